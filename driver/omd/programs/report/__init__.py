"""Reports over all rooms: status, logs, the trace of a row, the page (schema omd_report)."""
