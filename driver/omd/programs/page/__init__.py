"""Parts of a page: what the page of `omd web` and the reports as HTML are put together from."""
