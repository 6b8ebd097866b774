"""What the page asks the database: actions on what it shows, and looks (schema omd_web)."""
