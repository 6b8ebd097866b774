"""The rooms: their routines and rows as Python sees them, and what only Python can do."""
