"""Values that fit the names of their fields."""
