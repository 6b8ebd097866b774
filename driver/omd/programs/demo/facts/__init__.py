"""What was delivered becomes facts: loaded, read as of any moment, undone, written, erased."""
