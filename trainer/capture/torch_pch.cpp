// Compiles the precompiled LibTorch headers that the trainer's sources share (trainer/README.md).
