"""From comic books to panels, texts, stories and captions: one file for each step."""
