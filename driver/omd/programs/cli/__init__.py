"""The command ``omd``; ``omd.programs.cli.main`` finds the commands of the rooms."""
