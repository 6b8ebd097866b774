"""Deliveries on Spark (docs/explanation/delivery.md): Spark touches every row and decides nothing.

plan → staged → checked (stage 1) → judged (stage 2) → delta.
"""
