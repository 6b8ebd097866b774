-- The errors of lineage. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- No topic has this name. For example: a step is asked for before the topic was registered, or
    -- after it was removed.
    'OM015', 'UnknownTopic', 'topic "{topic}" is not registered',
    'SELECT topic FROM omd_lineage.topic; or CALL omd_lineage.register_topic({topic_literal});'
),
(
    -- The name of a topic is not of the form ``schema.table[#tag][:shard]``. For example: a topic
    -- is given as flight, without the schema of its table.
    'OM016', 'InvalidTopic',
    '"{topic}" is not the name of a topic, which is schema.table with #tag and :shard if needed',
    'Quote a table as SQL does: "My schema"."My table"#tag:shard.'
),
(
    -- A topic would depend on itself. For example: topic a reads b, and b is registered again so
    -- that it reads a.
    'OM017', 'CyclicDependency', 'topic "{topic}" would depend on itself, through {through}',
    'SELECT * FROM omd_report.lineage_graph WHERE topic = {through_literal};'
),
(
    -- The topic was released, or another step has taken it: this step can't commit any more. For
    -- example: a step took longer than its lease, and the next one has taken the topic.
    'OM108',
    'StepFenced',
    'Module Instance {module_instance_id} does not hold topic "{topic}" any more: the topic was '
    'released, or taken by another step',
    'Nothing of this step is committed. The next one takes the same block: CALL '
    'omd_lineage.step({topic_literal});'
),
(
    -- A block has several rows with one key, and it is not known which of them is the newest. For
    -- example: a view joins a table that has several rows per key.
    'OM117', 'AmbiguousKey',
    'the transform {transform} returns several rows with {key_columns} = {key} in one block',
    'Let the view return one row per key, with GROUP BY or DISTINCT ON. With p_merge_key it may '
    'show the position ({position}) of the base table instead: then the newest row of a key counts.'
),
(
    -- A step can't be undone any more: the rows that it replaced are purged. For example: a run of
    -- last year gets an R, and the rows that it replaced were purged.
    'OM217', 'ReplacedRowsPurged',
    'rows that Module Instances {module_instance_ids} of {module_code} replaced in {table_code} '
    'are not kept any more, so these runs can''t be undone',
    'omd.purge has deleted them. Take the R back: CALL '
    'omd.set_next_run_indicator(''P'', p_module_instance_id => …); or empty the table and load it '
    'again: CALL omd_lineage.set_offset(…);'
),
(
    -- A step can't be undone: the destination has changed since it replaced rows. For example: a
    -- column was dropped after the run had replaced rows.
    'OM218', 'ReplacedRowsUnfit',
    'rows that Module Instance {module_instance_id} replaced in {table_code} have a column '
    '"{column_name}", which the table lacks now',
    'Add the column, or give it its former name; then run the step again.'
),
(
    -- A RELOAD would remove rows that another table refers to by a foreign key. For example: a
    -- RELOAD lacks customers, and orders refer to them.
    'OM118', 'ReloadStillReferenced',
    'the new content of {table_code} lacks rows that {referrer} refers to: {problem}',
    'Nothing was replaced. {way_out}'
),
(
    -- A step takes a block again, or a block that is undone must be loaded first. For example: a
    -- step executes while what it takes again is cancelled.
    'OM119', 'RestatementGoesOn', 'what topic "{topic}" takes again can''t be cancelled: {problem}',
    'SELECT * FROM omd_lineage.restatement_list WHERE topic = {topic_literal};'
),
(
    -- A topic can't be removed while rows of its failed or dead runs may be in its table. For
    -- example: a topic is removed after its last step has failed on Spark.
    'OM115', 'TopicNotUndone',
    'topic "{topic}" can''t be removed: rows of its Module Instances {module_instance_ids} may be '
    'in {table_code}, and they are not undone',
    'Undo them first: {next_command} To leave them: CALL omd_lineage.remove_topic({topic_literal}, '
    'p_leave_rows => TRUE);'
),
(
    -- What failed runs of a topic have left can't be undone now, or not in this database. For
    -- example: a step of the topic still runs in another session.
    'OM116', 'UndoRefused',
    'Module Instances {module_instance_ids} of topic "{topic}" can''t be undone now: the begin of '
    'its Module returned {answer}',
    'SELECT reason, rule, details FROM omd.explain_begin({module_code_literal}); with R the rows '
    'are undone where they are: CALL omd.begin_module({module_code_literal});'
),
(
    -- The base table lacks something that is needed to read it by blocks. For example: the table
    -- has no index on its time and id columns.
    'OM206', 'BaseTableUnfit', 'the base table {table_code} can''t be read by blocks: {problem}',
    'It needs a time column (timestamptz) and an id column (bigint, integer or smallint), with an '
    'index on both; name them with p_pos_column and p_id_column of omd_lineage.register_topic. '
    'p_pos_column '''' reads it by the id alone.'
),
(
    -- A transform does not exist, or does not fit the destination. For example: the view has a
    -- column that the destination lacks.
    'OM207', 'TransformUnfit', 'the transform {transform} can''t be run: {problem}',
    'A transform is a view whose columns are columns of the destination.'
),
(
    -- The topic does not allow the call: it is a source, has another engine, or is needed. For
    -- example: a step is asked for a topic that is only a source.
    'OM208', 'WrongTopicState', 'topic "{topic}": {problem}',
    'SELECT * FROM omd_report.lineage_ready WHERE topic = {topic_literal};'
),
(
    -- A view of a STEP does not read its base table by blocks, or reads one that was renamed. For
    -- example: a view selects from the table without omd_lineage.in_block.
    'OM213', 'BaseTableUnread',
    'the transform {transform} of topic "{topic}" does not read {table_code} by blocks: {problem}',
    '{next_command} A function that the view calls is looked into only when it '
    'is in SQL with BEGIN ATOMIC.'
),
(
    -- Another session locks the base table, so that it can't be read now. For example: ALTER TABLE
    -- waits or works in another session.
    'OM212', 'BaseTableLocked', 'the base table {table_code} can''t be read now: {problem}',
    'The next probe or step tries again. SELECT pid, query FROM pg_stat_activity WHERE '
    'cardinality(pg_blocking_pids(pid)) > 0 OR state <> ''idle'';'
),
(
    -- The position of a topic is the id alone, and an argument or a dependency needs a time. For
    -- example: a delay is given for a topic that is read by its id alone.
    'OM211', 'TopicWithoutTime', 'topic "{topic}" can''t be read so: {problem}',
    'Register all of its tables with a time, or all of them by the id alone (p_pos_column => '''').'
),
(
    -- Another base table, or other columns, without a word about the offset of the topic. For
    -- example: a topic is registered again with another time column.
    'OM215', 'OffsetUndecided',
    'topic "{topic}" has come to ({last_pos}, {last_id}) by {former_pos_column} and '
    '{former_id_column} of {former_table_code}; nothing says where that is by {pos_column} and '
    '{id_column} of {table_code}',
    'CALL omd_lineage.register_topic({topic_literal}, p_pos_column => {pos_column_literal}, '
    'p_id_column => {id_column_literal}, p_start_pos => {last_pos_literal}, p_start_id => {last_id}'
    ', …); keeps its position, and p_start_pos => ''-infinity'' reads all rows. A topic that reads '
    'another by its columns is registered before that one.'
),
(
    -- A topic would load all rows of its base table into a table that may hold them already. For
    -- example: a topic is registered for a table that was filled by another tool.
    'OM216', 'DestinationFilled',
    'topic "{topic}" would load all rows of its base table, and {table_code} may hold them already',
    'CALL omd_lineage.register_topic({topic_literal}, p_start_pos => …, p_start_id => …, …); with '
    'the position of the last row that it holds, or p_start_pos => ''-infinity'' to load all rows, '
    'or empty the table first.'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
