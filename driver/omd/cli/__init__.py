"""The command ``omd``: one module per room, found by ``omd.cli.main``."""
