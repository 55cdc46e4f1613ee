// Carries the precompiled LibTorch headers that the trainer's units share (trainer/README.md).
