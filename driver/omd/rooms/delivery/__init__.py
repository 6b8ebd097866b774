"""Delivery: was what arrived agreed and acceptable, what has changed (schema omd_delivery)."""
