"""Chat models behind one method: scripted, OpenAI-compatible, transformers, vLLM."""
