"""Flights and weather that arrive out of step, joined by topics."""
