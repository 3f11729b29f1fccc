"""The in-memory API server: store, resourceVersion, watch, admission, bind."""
