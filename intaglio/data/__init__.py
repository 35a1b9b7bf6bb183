"""`tf.data`: datasets, their stages as ops, iterators. Stages compute on arrays, not on tensors.

The families of ops are imported on the first use of one of their ops.
"""

from intaglio.opdef import raw

raw.expect(
    __name__,
    {
        "batching": """
            BatchDatasetV2 DenseToSparseBatchDataset ParallelBatchDataset PaddedBatchDatasetV2
            RebatchDatasetV2 UnbatchDataset WindowDataset
        """,
        "caching": "CacheDataset",
        "checking": "UniqueDataset IgnoreErrorsDataset AssertCardinalityDataset OptionsDataset",
        "choices": "RandomChoicesDataset",
        "csv_decoding": "DecodeCSV",
        "csv_files": "CSVDatasetV2",
        "files": "TextLineDataset TFRecordDataset FixedLengthRecordDatasetV2",
        "flattening": "FlatMapDataset InterleaveDataset ParallelInterleaveDatasetV4",
        "functional": """
            PrefetchDataset MapDataset ParallelMapDatasetV2 FilterDataset TakeWhileDataset ScanDataset
            ReduceDataset
        """,
        "grouping": "GroupByWindowDataset GroupByReducerDataset",
        "iterators": """
            AnonymousIteratorV3 IteratorToStringHandle IteratorFromStringHandleV2 MakeIterator IteratorGetNext IteratorHasNext IteratorGetNextAsOptional
            OptionalFromValue OptionalNone OptionalHasValue OptionalGetValue DatasetToSingleElement
            DatasetCardinality GetElementAtIndex DatasetFingerprint IteratorV2 OneShotIterator
        """,
        "queues": """
            FIFOQueueV2 PaddingFIFOQueueV2 PriorityQueueV2 QueueCloseV2 QueueDequeueManyV2 QueueDequeueUpToV2
            QueueDequeueV2 QueueEnqueueManyV2 QueueEnqueueV2 QueueIsClosedV2 QueueSizeV2 RandomShuffleQueueV2
        """,
        "rearranging": """
            RepeatDataset TakeDataset SkipDataset ShardDataset ShuffleDatasetV3 ConcatenateDataset
            ZipDataset DirectedInterleaveDataset
        """,
        "saving": "SaveDataset SaveDatasetV2 LoadDataset SnapshotDatasetV2 DatasetToTFRecord",
        "seeds": "AnonymousSeedGenerator",
        "sources": "ListDataset TensorDataset TensorSliceDataset RangeDataset RandomDatasetV2 PythonGeneratorDataset",
        "sql": "SqlDataset",
        "summary_messages": """
            AudioSummaryV2 HistogramSummary ImageSummary MergeSummary ScalarSummary TensorSummaryV2
        """,
        "summaries": """
            CloseSummaryWriter CreateSummaryFileWriter FlushSummaryWriter SummaryWriter WriteGraphSummary
            WriteRawProtoSummary WriteSummary
        """,
        "work_readers": """
            FixedLengthRecordReaderV2 IdentityReaderV2 ReaderNumRecordsProducedV2
            ReaderNumWorkUnitsCompletedV2 ReaderReadUpToV2 ReaderReadV2 ReaderResetV2 TFRecordReaderV2
            TextLineReaderV2 WholeFileReaderV2
        """,
    },
)
