// Keeps a room that has only headers so far a library.
