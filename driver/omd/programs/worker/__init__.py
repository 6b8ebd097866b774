"""The worker: claims tasks of dispatch and performs them."""
