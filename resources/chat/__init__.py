"""Chat models behind `pipelines.chat.ChatModel`: one client, a service for each protocol, a cache, limits and money."""
