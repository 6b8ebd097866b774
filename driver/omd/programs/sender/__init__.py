"""The sender: hands committed events to sinks."""
