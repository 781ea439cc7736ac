"""envace-sdk."""
