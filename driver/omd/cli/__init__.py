"""The command ``omd``; ``omd.cli.main`` finds the commands of the rooms."""
