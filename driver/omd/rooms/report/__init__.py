"""Reporting: the views over the other rooms (schema omd_report)."""
