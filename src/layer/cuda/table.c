/*
 * The names of the driver that are known; see entries.c. The rest of
 * CUDA 13.0's is unknown on purpose: stream memory operations, functions of the host in a stream,
 * semaphores and memory of others, peers, green contexts, checkpoints, multicast, batches of
 * copies, graphics, and the launches of old.
 */
#include "layer/cuda/driver.h"
#include "layer/cuda/nvrtc.h"

#include <string.h>

#define BIT(argument) (1u << (argument))

/* name, version, handler, arguments that are addresses, stream (-1: the default one), bytes */
static const rs_entry_kind followed[] = {
    {"cuCtxDestroy", "*", rs_follow_end_context, 0, -1, -1},
    {"cuCtxDetach", "*", rs_follow_end_context, 0, -1, -1},
    {"cuCtxSynchronize", "*", rs_follow_wait, 0, -1, -1},
    {"cuDevicePrimaryCtxRelease", "*", rs_follow_end_context, 0, -1, -1},
    {"cuDevicePrimaryCtxReset", "*", rs_follow_end_context, 0, -1, -1},
    {"cuEventSynchronize", "*", rs_follow_wait, 0, -1, -1},
    {"cuFuncSetAttribute", "*", rs_follow_change_function, 0, -1, -1},
    {"cuGetProcAddress", "*", rs_follow_get_address, 0, -1, -1},
    {"cuGraphLaunch", "*", rs_follow_restore_everything, 0, 1, -1},
    {"cuIpcGetMemHandle", "*", rs_follow_keep, BIT(1), -1, -1},
    {"cuKernelSetAttribute", "*", rs_follow_change_kernel, 0, -1, -1},
    {"cuLaunchCooperativeKernel", "*", rs_follow_launch_cooperative, 0, 8, -1},
    {"cuLaunchKernel", "*", rs_follow_launch, 0, 8, -1},
    {"cuLaunchKernelEx", "*", rs_follow_launch_extended, 0, -1, -1},
    {"cuLibraryLoadData", "*", rs_follow_load, 0, -1, -1},
    {"cuLibraryUnload", "*", rs_follow_unload, 0, -1, -1},
    {"cuLinkComplete", "*", rs_follow_link, 0, -1, -1},
    {"cuMemAlloc", "_v2", rs_follow_allocate, 0, -1, 1},
    {"cuMemAllocAsync", "*", rs_follow_allocate, 0, 2, 1},
    {"cuMemAllocFromPoolAsync", "*", rs_follow_allocate, 0, 3, 1},
    {"cuMemAllocManaged", "*", rs_follow_allocate_kept, 0, -1, 1},
    {"cuMemFree", "_v2", rs_follow_free, 0, -1, -1},
    {"cuMemFreeAsync", "*", rs_follow_free_later, 0, 1, -1},
    {"cuMemGetHandleForAddressRange", "*", rs_follow_keep, BIT(1), -1, -1},
    {"cuMemPoolExportPointer", "*", rs_follow_keep, BIT(1), -1, -1},
    {"cuMemcpy", "*", rs_follow_copy, BIT(0) | BIT(1), -1, 2},
    {"cuMemcpy2D", "_v2", rs_follow_use_everything, 0, -1, -1},
    {"cuMemcpy2DAsync", "_v2", rs_follow_use_everything, 0, 1, -1},
    {"cuMemcpy2DUnaligned", "_v2", rs_follow_use_everything, 0, -1, -1},
    {"cuMemcpy3D", "_v2", rs_follow_use_everything, 0, -1, -1},
    {"cuMemcpy3DAsync", "_v2", rs_follow_use_everything, 0, 1, -1},
    {"cuMemcpy3DPeer", "*", rs_follow_use_everything, 0, -1, -1},
    {"cuMemcpy3DPeerAsync", "*", rs_follow_use_everything, 0, 1, -1},
    {"cuMemcpyAsync", "*", rs_follow_copy, BIT(0) | BIT(1), 3, 2},
    {"cuMemcpyAtoA", "_v2", NULL, 0, -1, -1},
    {"cuMemcpyAtoD", "_v2", rs_follow_copy, BIT(0), -1, -1},
    {"cuMemcpyAtoH", "_v2", rs_follow_copy, BIT(0), -1, -1},
    {"cuMemcpyAtoHAsync", "_v2", rs_follow_copy, BIT(0), 4, -1},
    {"cuMemcpyDtoA", "_v2", rs_follow_copy, BIT(2), -1, -1},
    {"cuMemcpyDtoD", "_v2", rs_follow_copy, BIT(0) | BIT(1), -1, 2},
    {"cuMemcpyDtoDAsync", "_v2", rs_follow_copy, BIT(0) | BIT(1), 3, 2},
    {"cuMemcpyDtoH", "_v2", rs_follow_copy, BIT(0) | BIT(1), -1, 2},
    {"cuMemcpyDtoHAsync", "_v2", rs_follow_copy, BIT(0) | BIT(1), 3, 2},
    {"cuMemcpyHtoA", "_v2", rs_follow_copy, BIT(2), -1, -1},
    {"cuMemcpyHtoAAsync", "_v2", rs_follow_copy, BIT(2), 4, -1},
    {"cuMemcpyHtoD", "_v2", rs_follow_copy, BIT(0) | BIT(1), -1, 2},
    {"cuMemcpyHtoDAsync", "_v2", rs_follow_copy, BIT(0) | BIT(1), 3, 2},
    {"cuMemcpyPeer", "*", rs_follow_use_everything, 0, -1, -1},
    {"cuMemcpyPeerAsync", "*", rs_follow_use_everything, 0, 5, -1},
    {"cuMemsetD16", "_v2", rs_follow_copy, BIT(0), -1, -1},
    {"cuMemsetD16Async", "*", rs_follow_copy, BIT(0), 3, -1},
    {"cuMemsetD2D16", "_v2", rs_follow_copy, BIT(0), -1, -1},
    {"cuMemsetD2D16Async", "*", rs_follow_copy, BIT(0), 5, -1},
    {"cuMemsetD2D32", "_v2", rs_follow_copy, BIT(0), -1, -1},
    {"cuMemsetD2D32Async", "*", rs_follow_copy, BIT(0), 5, -1},
    {"cuMemsetD2D8", "_v2", rs_follow_copy, BIT(0), -1, -1},
    {"cuMemsetD2D8Async", "*", rs_follow_copy, BIT(0), 5, -1},
    {"cuMemsetD32", "_v2", rs_follow_copy, BIT(0), -1, -1},
    {"cuMemsetD32Async", "*", rs_follow_copy, BIT(0), 3, -1},
    {"cuMemsetD8", "_v2", rs_follow_fill, BIT(0), -1, 2},
    {"cuMemsetD8Async", "*", rs_follow_fill, BIT(0), 3, 2},
    {"cuModuleLoadData", "*", rs_follow_load, 0, -1, -1},
    {"cuModuleLoadDataEx", "*", rs_follow_load, 0, -1, -1},
    {"cuModuleLoadFatBinary", "*", rs_follow_load, 0, -1, -1},
    {"cuModuleUnload", "*", rs_follow_unload, 0, -1, -1},
    {"cuPointerSetAttribute", "*", rs_follow_keep, BIT(2), -1, -1},
    {"cuStreamBeginCapture", "*", rs_follow_begin_capture, 0, 0, -1},
    {"cuStreamBeginCaptureToGraph", "*", rs_follow_begin_capture, 0, 0, -1},
    {"cuStreamDestroy", "*", rs_follow_destroy_stream, 0, -1, -1},
    {"cuStreamEndCapture", "*", rs_follow_end_capture, 0, 0, -1},
    {"cuStreamSynchronize", "*", rs_follow_wait, 0, -1, -1},
    {"cuTensorMapEncodeIm2col", "*", rs_follow_keep, BIT(3), -1, -1},
    {"cuTensorMapEncodeIm2colWide", "*", rs_follow_keep, BIT(3), -1, -1},
    {"cuTensorMapEncodeTiled", "*", rs_follow_keep, BIT(3), -1, -1},
    {"cuTensorMapReplaceAddress", "*", rs_follow_keep, BIT(1), -1, -1},
    {"cuTexObjectCreate", "*", rs_follow_keep_resource, 0, -1, -1},
    {"cuTexRefSetAddress", "*", rs_follow_keep, BIT(2), -1, -1},
    {"cuTexRefSetAddress2D", "*", rs_follow_keep, BIT(2), -1, -1},
};

/* The driver's own functions, by what their names begin with. */
static const struct {
    const char *subject, *names;
} harmless[] = {
    {"cuArray", "cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayDestroy "
                "cuArrayGetDescriptor cuArrayGetMemoryRequirements cuArrayGetPlane "
                "cuArrayGetSparseProperties"},
    {"cuCoredump", "cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute "
                   "cuCoredumpSetAttributeGlobal"},
    {"cuCtx", "cuCtxAttach cuCtxCreate cuCtxDisablePeerAccess cuCtxGetApiVersion "
              "cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetExecAffinity "
              "cuCtxGetFlags cuCtxGetId cuCtxGetLimit cuCtxGetSharedMemConfig "
              "cuCtxGetStreamPriorityRange cuCtxPopCurrent cuCtxPushCurrent "
              "cuCtxResetPersistingL2Cache cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetFlags "
              "cuCtxSetLimit cuCtxSetSharedMemConfig"},
    {"cuDevice",
     "cuDeviceCanAccessPeer cuDeviceComputeCapability cuDeviceGet cuDeviceGetAttribute "
     "cuDeviceGetByPCIBusId cuDeviceGetCount cuDeviceGetDefaultMemPool "
     "cuDeviceGetDevResource cuDeviceGetExecAffinitySupport cuDeviceGetGraphMemAttribute "
     "cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid cuDeviceGetMemPool cuDeviceGetName "
     "cuDeviceGetNvSciSyncAttributes cuDeviceGetP2PAtomicCapabilities "
     "cuDeviceGetP2PAttribute cuDeviceGetPCIBusId cuDeviceGetProperties "
     "cuDeviceGetTexture1DLinearMaxWidth cuDeviceGetUuid cuDeviceGraphMemTrim "
     "cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags "
     "cuDeviceRegisterAsyncNotification cuDeviceSetGraphMemAttribute cuDeviceSetMemPool "
     "cuDeviceTotalMem cuDeviceUnregisterAsyncNotification"},
    {"cuDriver", "cuDriverGetVersion"},
    {"cuEvent", "cuEventCreate cuEventDestroy cuEventElapsedTime cuEventQuery cuEventRecord "
                "cuEventRecordWithFlags"},
    {"cuFunc", "cuFuncGetAttribute cuFuncGetModule cuFuncGetName cuFuncGetParamInfo cuFuncIsLoaded "
               "cuFuncLoad cuFuncSetBlockShape cuFuncSetCacheConfig cuFuncSetSharedMemConfig "
               "cuFuncSetSharedSize"},
    {"cuGet", "cuGetErrorName cuGetErrorString cuGetExportTable"},
    {"cuGraph",
     "cuGraphAddChildGraphNode cuGraphAddDependencies cuGraphAddEmptyNode "
     "cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphAddKernelNode "
     "cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphAddMemcpyNode "
     "cuGraphAddMemsetNode cuGraphAddNode cuGraphBatchMemOpNodeGetParams "
     "cuGraphBatchMemOpNodeSetParams cuGraphChildGraphNodeGetGraph cuGraphClone "
     "cuGraphConditionalHandleCreate cuGraphCreate cuGraphDebugDotPrint cuGraphDestroy "
     "cuGraphDestroyNode cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent "
     "cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent "
     "cuGraphExecBatchMemOpNodeSetParams cuGraphExecChildGraphNodeSetParams "
     "cuGraphExecDestroy cuGraphExecEventRecordNodeSetEvent "
     "cuGraphExecEventWaitNodeSetEvent cuGraphExecExternalSemaphoresSignalNodeSetParams "
     "cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExecGetFlags "
     "cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams "
     "cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams "
     "cuGraphExecNodeSetParams cuGraphExecUpdate "
     "cuGraphExternalSemaphoresSignalNodeGetParams "
     "cuGraphExternalSemaphoresSignalNodeSetParams "
     "cuGraphExternalSemaphoresWaitNodeGetParams "
     "cuGraphExternalSemaphoresWaitNodeSetParams cuGraphGetEdges cuGraphGetNodes "
     "cuGraphGetRootNodes cuGraphHostNodeGetParams cuGraphHostNodeSetParams "
     "cuGraphInstantiate cuGraphInstantiateWithFlags cuGraphInstantiateWithParams "
     "cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute "
     "cuGraphKernelNodeGetParams cuGraphKernelNodeSetAttribute cuGraphKernelNodeSetParams "
     "cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams cuGraphMemcpyNodeGetParams "
     "cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams "
     "cuGraphNodeFindInClone cuGraphNodeGetDependencies cuGraphNodeGetDependentNodes "
     "cuGraphNodeGetEnabled cuGraphNodeGetType cuGraphNodeSetEnabled cuGraphNodeSetParams "
     "cuGraphReleaseUserObject cuGraphRemoveDependencies cuGraphRetainUserObject "
     "cuGraphUpload"},
    {"cuInit", "cuInit"},
    {"cuIpc", "cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcOpenEventHandle cuIpcOpenMemHandle"},
    {"cuKernel", "cuKernelGetAttribute cuKernelGetFunction cuKernelGetLibrary cuKernelGetName "
                 "cuKernelGetParamInfo cuKernelSetCacheConfig"},
    {"cuLibrary", "cuLibraryEnumerateKernels cuLibraryGetGlobal cuLibraryGetKernel "
                  "cuLibraryGetKernelCount cuLibraryGetManaged cuLibraryGetModule "
                  "cuLibraryGetUnifiedFunction cuLibraryLoadFromFile"},
    {"cuLink", "cuLinkAddData cuLinkAddFile cuLinkCreate cuLinkDestroy"},
    {"cuLogs", "cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback "
               "cuLogsUnregisterCallback"},
    {"cuMem", "cuMemAddressFree cuMemAddressReserve cuMemAdvise cuMemAllocHost cuMemAllocPitch "
              "cuMemCreate cuMemExportToShareableHandle cuMemFreeHost cuMemGetAccess "
              "cuMemGetAddressRange cuMemGetAllocationGranularity "
              "cuMemGetAllocationPropertiesFromHandle cuMemGetDefaultMemPool cuMemGetInfo "
              "cuMemGetMemPool cuMemHostAlloc cuMemHostGetDevicePointer cuMemHostGetFlags "
              "cuMemHostRegister cuMemHostUnregister cuMemImportFromShareableHandle cuMemMap "
              "cuMemMapArrayAsync cuMemPoolCreate cuMemPoolDestroy cuMemPoolGetAccess "
              "cuMemPoolGetAttribute cuMemPoolImportFromShareableHandle cuMemPoolImportPointer "
              "cuMemPoolSetAttribute cuMemPoolTrimTo cuMemPrefetchAsync cuMemRangeGetAttribute "
              "cuMemRangeGetAttributes cuMemRelease cuMemRetainAllocationHandle cuMemSetAccess "
              "cuMemSetMemPool cuMemUnmap"},
    {"cuMipmapped", "cuMipmappedArrayCreate cuMipmappedArrayDestroy cuMipmappedArrayGetLevel "
                    "cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties"},
    {"cuModule", "cuModuleEnumerateFunctions cuModuleGetFunction cuModuleGetFunctionCount "
                 "cuModuleGetGlobal cuModuleGetLoadingMode cuModuleGetSurfRef cuModuleGetTexRef "
                 "cuModuleLoad"},
    {"cuOccupancy",
     "cuOccupancyAvailableDynamicSMemPerBlock cuOccupancyMaxActiveBlocksPerMultiprocessor "
     "cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxActiveClusters "
     "cuOccupancyMaxPotentialBlockSize cuOccupancyMaxPotentialBlockSizeWithFlags "
     "cuOccupancyMaxPotentialClusterSize"},
    {"cuParam", "cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv"},
    {"cuPointer", "cuPointerGetAttribute cuPointerGetAttributes"},
    {"cuProfiler", "cuProfilerInitialize cuProfilerStart cuProfilerStop"},
    {"cuStream",
     "cuStreamAttachMemAsync cuStreamCopyAttributes cuStreamCreate "
     "cuStreamCreateWithPriority cuStreamGetAttribute cuStreamGetCaptureInfo "
     "cuStreamGetCtx cuStreamGetDevice cuStreamGetFlags cuStreamGetGreenCtx cuStreamGetId "
     "cuStreamGetPriority cuStreamIsCapturing cuStreamQuery cuStreamSetAttribute "
     "cuStreamUpdateCaptureDependencies cuStreamWaitEvent"},
    {"cuSurf",
     "cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc cuSurfRefGetArray "
     "cuSurfRefSetArray"},
    {"cuTex",
     "cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc "
     "cuTexObjectGetTextureDesc cuTexRefCreate cuTexRefDestroy cuTexRefGetAddress "
     "cuTexRefGetAddressMode cuTexRefGetArray cuTexRefGetBorderColor cuTexRefGetFilterMode "
     "cuTexRefGetFlags cuTexRefGetFormat cuTexRefGetMaxAnisotropy "
     "cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp "
     "cuTexRefGetMipmappedArray cuTexRefSetAddressMode cuTexRefSetArray "
     "cuTexRefSetBorderColor cuTexRefSetFilterMode cuTexRefSetFlags cuTexRefSetFormat "
     "cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias "
     "cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray"},
    {"cuThread", "cuThreadExchangeStreamCaptureMode"},
    {"cuUser", "cuUserObjectCreate cuUserObjectRelease cuUserObjectRetain"},
};

static bool has_word(const char *words, const char *word, size_t length)
{
    while (*words != '\0') {
        const size_t size = strcspn(words, " ");
        if (size == length && memcmp(words, word, length) == 0)
            return true;
        words += size + strspn(words + size, " ");
    }
    return false;
}

const rs_entry_kind *rs_entry_kind_of(const char *name, size_t length)
{
    static const rs_entry_kind is_harmless = {"", "*", NULL, 0, -1, -1};
    for (size_t i = 0; i < sizeof followed / sizeof followed[0]; i++)
        if (strlen(followed[i].name) == length && memcmp(followed[i].name, name, length) == 0)
            return &followed[i];
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (strncmp(name, harmless[i].subject, strlen(harmless[i].subject)) == 0 &&
            has_word(harmless[i].names, name, length))
            return &is_harmless;
    return NULL;
}
