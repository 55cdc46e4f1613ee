"""Trains a denoising diffusion model as in diffusers' documentation: UNet2DModel, DDPM's noise, an
exponential moving average, bf16, and sampled images."""
import argparse

import torch
from diffusers import DDPMScheduler, UNet2DModel
from diffusers.optimization import get_cosine_schedule_with_warmup
from diffusers.training_utils import EMAModel


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--steps", type=int, default=4)
    arguments = parser.parse_args()
    model = UNet2DModel(sample_size=128, in_channels=3, out_channels=3, layers_per_block=2, block_out_channels=(128, 128, 256, 256, 512, 512),
                        down_block_types=("DownBlock2D", "DownBlock2D", "DownBlock2D", "DownBlock2D", "AttnDownBlock2D", "DownBlock2D"),
                        up_block_types=("UpBlock2D", "AttnUpBlock2D", "UpBlock2D", "UpBlock2D", "UpBlock2D", "UpBlock2D")).cuda()
    average = EMAModel(model.parameters(), decay=0.999)
    average.to("cuda")
    noises = DDPMScheduler(num_train_timesteps=1000)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    schedule = get_cosine_schedule_with_warmup(optimizer, 2, arguments.steps)
    for step in range(arguments.steps):
        images = torch.rand(arguments.batch, 3, 128, 128).cuda()
        noise = torch.randn(images.shape, device="cuda")
        times = torch.randint(0, 1000, (arguments.batch,), device="cuda").long()
        with torch.autocast("cuda", torch.bfloat16):
            loss = torch.nn.functional.mse_loss(model(noises.add_noise(images, noise, times), times, return_dict=False)[0].float(), noise)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        average.step(model.parameters())
        print("step %d: loss %.4f" % (step, loss.item()))
    model.eval()
    with torch.no_grad():
        noises.set_timesteps(3)
        sample = torch.randn(1, 3, 128, 128, device="cuda")
        for time in noises.timesteps:
            sample = noises.step(model(sample, time).sample, time, sample).prev_sample
    print(((sample / 2 + 0.5).clamp(0, 1) * 255).to(torch.uint8).cpu().numpy().mean())


if __name__ == "__main__":
    main()
