"""The scheduler itself: event handlers, scheduling cycles, binding cycles."""
