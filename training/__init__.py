"""Role-wise GRPO of an acting and rehearsing policy: tasks, rewards, rollouts, the trainer and its engines."""
