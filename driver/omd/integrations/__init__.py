"""What begins and sees runs from the tools that users have: one module a tool."""
