// All of the dialect, in the order of its levels.

include "AsyncPipelineBase.td"
include "TileOps.td"
include "ChannelOps.td"
include "BarrierOps.td"
include "CopyOps.td"
include "SyncOps.td"
include "TensorOps.td"
include "MmaOps.td"
