"""What a person sees, one file a view."""
