-- The errors of lineage. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    'OM015', 'UnknownTopic', 'topic "{topic}" is not registered',
    'SELECT topic FROM omd_lineage.topic; or CALL omd_lineage.register_topic({topic_literal});'
),
(
    'OM016', 'InvalidTopic',
    '"{topic}" is not the name of a topic, which is schema.table with #tag and :shard if needed',
    'Quote a table as SQL does: "My schema"."My table"#tag:shard.'
),
(
    'OM017', 'CyclicDependency', 'topic "{topic}" would depend on itself, through {through}',
    'SELECT * FROM omd_report.lineage_graph WHERE topic = {through_literal};'
),
(
    'OM108',
    'StepFenced',
    'Module Instance {module_instance_id} does not hold topic "{topic}" any more: the topic was '
    'released, or taken by another step',
    'Nothing of this step is committed. The next one takes the same block: CALL '
    'omd_lineage.step({topic_literal});'
),
(
    'OM206', 'BaseTableUnfit', 'the base table {table_code} can''t be read by blocks: {problem}',
    'It needs a time column (timestamptz) and an id column (bigint, integer or smallint), with an '
    'index on both; name them with p_pos_column and p_id_column of omd_lineage.register_topic. '
    'p_pos_column '''' reads it by the id alone.'
),
(
    'OM207', 'TransformUnfit', 'the transform {transform} can''t be run: {problem}',
    'A transform is a view whose columns are columns of the destination.'
),
(
    'OM208', 'WrongTopicState', 'topic "{topic}": {problem}',
    'SELECT * FROM omd_lineage.ready_list WHERE topic = {topic_literal};'
),
(
    'OM211', 'TopicWithoutTime', 'topic "{topic}" can''t be read so: {problem}',
    'Register all of its tables with a time, or all of them by the id alone (p_pos_column => '''').'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
