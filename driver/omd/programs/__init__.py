"""What runs by itself: the command line, workers, senders, the page, reports, the demo."""
