"""Formats of lake tables, Iceberg and Delta: written, undone, kept. They need the extra lake."""
