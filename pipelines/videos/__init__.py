"""What is computed from videos: people in frames, who they are, and how they go on through a clip."""
