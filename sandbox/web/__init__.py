"""What a browser or a program asks for: views, the HTTP API, the live line, forms, and errors in words."""
