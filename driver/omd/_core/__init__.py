"""What every room stands on: it knows no room, no Spark and no command line."""
