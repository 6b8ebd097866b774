"""Dispatch: what is due, which worker takes it, what is suspended (schema omd_dispatch)."""
