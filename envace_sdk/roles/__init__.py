"""The two roles of a policy: their prompts, and what its text says."""
