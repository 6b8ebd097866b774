"""What begins and sees runs from the tools of users: a module a tool, which imports that tool."""
