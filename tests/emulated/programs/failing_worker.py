"""A worker of a DataLoader fails with an exception whose text is the missing key."""

import torch


class Data(torch.utils.data.Dataset):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return {"label": index}["image"]


if __name__ == "__main__":
    torch.zeros(1 << 20, device="cuda")
    for _ in torch.utils.data.DataLoader(Data(), num_workers=1):
        pass
