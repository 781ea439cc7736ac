"""Valid, realistic instances of any schema."""
