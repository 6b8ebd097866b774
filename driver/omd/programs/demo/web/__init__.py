"""The demo of the page: the night of ``omd demo platform``, slowly, beside an open page."""
