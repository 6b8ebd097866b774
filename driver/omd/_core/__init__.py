"""The base of every room; it depends on no room, on no Spark and on no command line."""
