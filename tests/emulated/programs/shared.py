"""A tensor that another process gets and writes into."""
import torch
import torch.multiprocessing as mp


def child(queue, done):
    tensor = queue.get()
    tensor.add_(1)
    torch.cuda.synchronize()
    done.set()
    del tensor


if __name__ == "__main__":
    mp.set_start_method("spawn")
    queue, done = mp.Queue(), mp.Event()
    process = mp.Process(target=child, args=(queue, done))
    process.start()
    tensor = torch.arange(6, device="cuda")
    queue.put(tensor)
    done.wait(60)
    process.join()
    print("read", tensor.tolist())
