"""Operational metadata for data platforms."""
