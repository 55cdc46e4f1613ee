"""Loads each part of a pipeline from its folder, which contains only configurations, as diffusers' text-to-image scripts do."""
import sys

import diffusers
import torch
import transformers


def describe(folder):
    with torch.device("meta"):
        unet = diffusers.UNet2DConditionModel(sample_size=32, block_out_channels=(64, 128), cross_attention_dim=128, attention_head_dim=8,
                                              down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"))
        vae = diffusers.AutoencoderKL(block_out_channels=(32, 64), down_block_types=("DownEncoderBlock2D",) * 2, up_block_types=("UpDecoderBlock2D",) * 2)
    unet.save_config(folder + "/unet")
    vae.save_config(folder + "/vae")
    transformers.CLIPTextConfig(hidden_size=128, intermediate_size=256, num_hidden_layers=2, num_attention_heads=4).save_pretrained(folder + "/text_encoder")


def main():
    folder = sys.argv[1]
    describe(folder)
    text = transformers.CLIPTextModel.from_pretrained(folder, subfolder="text_encoder").requires_grad_(False)
    vae = diffusers.AutoencoderKL.from_pretrained(folder, subfolder="vae", torch_dtype=torch.float16).requires_grad_(False)
    unet = diffusers.UNet2DConditionModel.from_pretrained(folder, subfolder="unet").train()
    assert vae.dtype is torch.float16 and unet.dtype is torch.float32 and not vae.training
    for model in (text, vae, unet):
        model.to("cuda")
    optimizer = torch.optim.AdamW(unet.parameters())
    for _ in range(2):
        latents = vae.encode(torch.randn(2, 3, 64, 64, device="cuda", dtype=torch.float16)).latent_dist.sample().float()
        words = text(torch.randint(0, 1000, (2, 16), device="cuda"))[0]
        noise = torch.randn_like(latents)
        torch.nn.functional.mse_loss(unet(latents, torch.randint(0, 1000, (2,), device="cuda"), words).sample, noise).backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()
