/*
 * A plugin of Oclgrind, which runs OpenCL kernels without a device: it writes down every access to
 * global memory, for trace.c to read. Oclgrind's plugins are C++; this is all that Restride has of
 * it. Work-groups run one after another (OCLGRIND_NUM_THREADS=1), so nothing here is locked.
 */
#include "sim/trace_format.h"

#include <oclgrind/Context.h>
#include <oclgrind/Memory.h>
#include <oclgrind/Plugin.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

namespace
{

class Recorder : public oclgrind::Plugin
{
  public:
    Recorder(const oclgrind::Context *context, FILE *stream) : Plugin(context), stream(stream)
    {
    }
    ~Recorder() override
    {
        fclose(stream);
    }

    bool isThreadSafe() const override
    {
        return false;
    }

    void memoryAllocated(const oclgrind::Memory *memory, size_t address, size_t size, cl_mem_flags,
                         const uint8_t *) override
    {
        if (is_global(memory))
            buffers.push_back({address, size});
    }

    void kernelBegin(const oclgrind::KernelInvocation *) override
    {
        write_block(RS_TRACE_BUFFERS, 0, buffers);
    }

    void kernelEnd(const oclgrind::KernelInvocation *) override
    {
        write_block(RS_TRACE_END, 0, std::vector<rs_trace_access>());
        fflush(stream);
    }

    void memoryLoad(const oclgrind::Memory *memory, const oclgrind::WorkItem *item, size_t address,
                    size_t size) override
    {
        add(memory, item, address, size, false);
    }

    void memoryStore(const oclgrind::Memory *memory, const oclgrind::WorkItem *item, size_t address,
                     size_t size, const uint8_t *) override
    {
        add(memory, item, address, size, true);
    }

    void memoryAtomicLoad(const oclgrind::Memory *memory, const oclgrind::WorkItem *item,
                          oclgrind::AtomicOp, size_t address, size_t size) override
    {
        add(memory, item, address, size, false);
    }

    void memoryAtomicStore(const oclgrind::Memory *memory, const oclgrind::WorkItem *item,
                           oclgrind::AtomicOp, size_t address, size_t size) override
    {
        add(memory, item, address, size, true);
    }

    void memoryLoad(const oclgrind::Memory *memory, const oclgrind::WorkGroup *, size_t address,
                    size_t size) override
    {
        add_for_group(memory, address, size, false);
    }

    void memoryStore(const oclgrind::Memory *memory, const oclgrind::WorkGroup *, size_t address,
                     size_t size, const uint8_t *) override
    {
        add_for_group(memory, address, size, true);
    }

    void workGroupComplete(const oclgrind::WorkGroup *group) override
    {
        const oclgrind::Size3 size = group->getGroupSize();
        write_block(RS_TRACE_GROUP, static_cast<uint32_t>(size.x * size.y * size.z), accesses);
        accesses.clear();
    }

  private:
    static bool is_global(const oclgrind::Memory *memory)
    {
        return memory->getAddressSpace() == oclgrind::AddrSpaceGlobal;
    }

    /* Reads and writes of one instruction get numbers of their own. */
    uint32_t site_of(const llvm::Instruction *instruction, bool writes)
    {
        const auto next = static_cast<uint32_t>(2 * sites.size());
        return sites.emplace(instruction, next).first->second + (writes ? 1 : 0);
    }

    void add(const oclgrind::Memory *memory, const oclgrind::WorkItem *item, size_t address,
             size_t size, bool writes)
    {
        if (!is_global(memory))
            return;
        const oclgrind::Size3 id = item->getLocalID();
        const oclgrind::Size3 extent = item->getWorkGroup()->getGroupSize();
        accesses.push_back({address, site_of(item->getCurrentInstruction(), writes),
                            static_cast<uint32_t>((id.z * extent.y + id.y) * extent.x + id.x),
                            static_cast<uint32_t>(size), writes ? 1U : 0U});
    }

    void add_for_group(const oclgrind::Memory *memory, size_t address, size_t size, bool writes)
    {
        if (is_global(memory))
            accesses.push_back({address, site_of(nullptr, writes), RS_TRACE_WHOLE_GROUP,
                                static_cast<uint32_t>(size), writes ? 1U : 0U});
    }

    template <typename Entry>
    void write_block(uint32_t kind, uint32_t items, const std::vector<Entry> &entries)
    {
        const rs_trace_block block = {kind, items, entries.size()};
        /* A reader that is gone needs no more: what is missing is seen by the missing end. */
        if (fwrite(&block, sizeof block, 1, stream) == 1 && !entries.empty())
            fwrite(entries.data(), sizeof(Entry), entries.size(), stream);
    }

    FILE *stream;
    std::vector<rs_trace_buffer> buffers;
    std::vector<rs_trace_access> accesses;
    std::unordered_map<const llvm::Instruction *, uint32_t> sites;
};

Recorder *recorder;

} // namespace

extern "C" __attribute__((visibility("default"))) void initializePlugins(oclgrind::Context *context)
{
    const char *descriptor = getenv(RS_TRACE_VARIABLE);
    FILE *stream = descriptor == nullptr ? nullptr : fdopen(atoi(descriptor), "wb");
    if (stream == nullptr)
        return;
    recorder = new Recorder(context, stream);
    context->registerPlugin(recorder);
}

extern "C" __attribute__((visibility("default"))) void releasePlugins(oclgrind::Context *context)
{
    if (recorder == nullptr)
        return;
    context->unregisterPlugin(recorder);
    delete recorder;
    recorder = nullptr;
}
