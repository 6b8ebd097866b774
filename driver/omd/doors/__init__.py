"""What users import: connect, Control, the doors to the rooms, tasks, and what performs a run."""
