"""The pick-a-panel tasks: windows over stories, distractors, drawn options, and what a release shows."""
