"""The API of rooms. Each call does what a button of a room's page does, by the same functions."""
