"""What talks to a terminal; it knows no room, and who opens a connection hands it in."""
