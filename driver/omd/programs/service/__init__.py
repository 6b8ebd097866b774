"""What runs for long: its loop, its endpoint, and what it publishes."""
