"""A night of a small platform: loads, topics, a maintenance, a killed worker, by tasks."""
