-- The errors of facts. omd.error_catalogue says how the templates are filled.

INSERT INTO omd.error_catalogue (sqlstate_code, error_name, message_template, hint_template)
VALUES
(
    -- The key that is inserted exists.
    'OM051', 'FactExists', '{entity_code} {key} exists',
    'UPDATE it instead.'
),
(
    -- A key was to be changed.
    'OM052', 'KeyChanged', 'the key of {entity_code} {key} can''t change',
    'DELETE the row and INSERT another one.'
),
(
    -- A key or mandatory attribute has no value.
    'OM053', 'ValueMissing',
    '{entity_code} {key}: "{attribute}" must have a value',
    'Give it a value.'
),
(
    -- The parent that is named does not exist.
    'OM054', 'ParentMissing',
    '{entity_code} {key}: the parent of "{relationship}" does not exist',
    'Insert the parent first.'
),
(
    -- Children of the row exist.
    'OM055', 'ChildrenExist', '{entity_code} {key} has children in {child}',
    'Delete the children first.'
),
(
    -- An immutable attribute was to be changed.
    'OM056', 'FactImmutable', '{entity_code} {key}: "{context}" is immutable',
    'Leave its attributes as they are.'
),
(
    -- The values of an alternate key are taken.
    'OM057', 'AlternateKeyTaken',
    '{entity_code} {key}: the values of "{context}" are those of another row',
    'Give it other values.'
),
(
    -- A column of the house was to be written.
    'OM058', 'SystemColumnSet',
    '{entity_code} {key}: the columns acm_ are not written',
    'Name attributes only.'
),
(
    -- A control answers an attribute that there is not.
    'OM059', 'ControlAnswerUnknown',
    'control "{control_code}" answers "{attribute}", which is no attribute',
    'Mend the function of the control.'
),
(
    -- An argument of an export is refused, or there is nothing to export.
    'OM060', 'InvalidExport', '{argument} can''t be {value}: {problem}',
    'See docs/explanation/facts.md.'
),
(
    -- A value is one that no delivery may bring.
    'OM061', 'ValueOutOfRange',
    '{entity_code} {key}: "{attribute}" can''t be {value}: {problem}',
    'Give it a value that a delivery may bring, or NULL.'
),
(
    -- The agreement of the delivery does not name the row, or its entity.
    'OM062', 'RowNotAgreed',
    '{entity_code} {key} is not of agreement "{agreement_code}": {problem}',
    'Write under a delivery of another agreement: SELECT * FROM omd_report.facts_deliveries;'
),
(
    -- The setting omd_facts.delete_type has a wrong word.
    'OM063', 'DeleteTypeUnknown',
    'omd_facts.delete_type can''t be {value}',
    'SET omd_facts.delete_type = ''PHYSICAL''; or RESET omd_facts.delete_type;'
),
(
    -- The delivery was opened by another login.
    'OM069', 'DeliveryOfAnother',
    'delivery {delivery_id} belongs to the login {opened_by}',
    'CALL omd_facts.open_delivery(…) under an agreement of your own; omd_admin may close it.'
),
(
    -- The session names no open delivery of the interface.
    'OM150', 'NoOpenDelivery',
    'delivery {delivery_id} is no open one of interface "{interface_code}"',
    'CALL omd_facts.open_delivery(…);'
),
(
    -- An LVL delivery of the interface is not at an end.
    'OM151', 'WritesBlocked',
    'delivery {delivery_id} of interface "{interface_code}" is not at an end',
    'SELECT * FROM omd_report.delivery_state;'
),
(
    -- The agreement has an open delivery.
    'OM152', 'DeliveryOpen',
    'delivery {delivery_id} under "{agreement_code}" is open',
    'CALL omd_facts.close_delivery({delivery_id});'
),
(
    -- An LVL delivery of the interface is not at an end.
    'OM154', 'ResyncBlocked',
    'delivery {delivery_id} of interface "{interface_code}" is not at an end',
    'CALL omd_facts.load_all({interface_code_literal});'
),
(
    -- An export was published or cancelled.
    'OM155', 'ExportEnded', 'export {delivery_id} is {delivery_status}',
    'CALL omd_facts.create_export(…);'
),
(
    -- The delivery does not allow to delete physically.
    'OM156', 'PhysicalDeleteRefused',
    'delivery {delivery_id} does not allow to delete physically',
    'CALL omd_facts.open_delivery(…, p_physical_delete_allowed => true);'
),
(
    -- The row was changed since the statement read it.
    'OM157', 'FactOvertaken',
    '{entity_code} {key} was changed by another transaction',
    'Repeat the statement.'
),
(
    -- A block of changes needs keys that are purged.
    'OM158', 'ChangesPurged',
    'the changes of interface "{interface_code}" after {after} are purged up to {purged}',
    'Read from the beginning, p_after 0: a topic by RELOAD, a stage with another window.'
),
(
    -- Runs that read the facts keep rows from being taken back.
    'OM159', 'ReadersAtWork',
    'the facts of interface "{interface_code}" are being read by {readers}',
    'Wait for them to end, then call again.'
),
(
    -- The entities of an interface do not keep their changes.
    'OM254', 'ChangesNotKept',
    'no changes are kept: {object} of interface "{interface_code}"',
    'Add "changes": true to the facts of the entity in the model, and deploy both.'
),
(
    -- A row of an item breaks what the facts must hold; the detail names its key.
    'OM161', 'ItemRefused',
    'interface "{interface_code}", {entity_code} {key}, context "{context}": {problem}',
    'CALL omd_delivery.revert_delivery({delivery_id}, …); or mend what is in the way, and load.'
),
(
    -- No file can hold a value.
    'OM162', 'ValueNotExported',
    '{entity_code}: "{attribute}" is {value}, which no file can hold',
    'UPDATE the row, then resume the export.'
),
(
    -- Readers or writers keep the views of an interface from being changed.
    'OM160', 'ViewsNotHeld',
    'the views of interface "{interface_code}" can''t be changed: {problem}',
    'CALL omd_facts.hold_views({interface_code_literal}); before all else in the transaction.'
),
(
    -- A load can't be undone; the detail says why.
    'OM153', 'LoadNotUndone',
    'load {module_instance_id} can''t be undone: {problem}',
    'SELECT * FROM omd_report.facts_loads;'
),
(
    -- What a model says for the facts can't be.
    'OM250', 'InvalidFacts', '"facts" of entity "{entity_code}": {problem}',
    'Mend the model: see docs/explanation/facts.md.'
),
(
    -- The facts of an interface are not deployed, or an older version of them is.
    'OM251', 'FactsNotDeployed',
    'the facts of interface "{interface_code}": {problem}',
    'CALL omd_facts.deploy({interface_code_literal});'
),
(
    -- A deployment would give stored facts another meaning.
    'OM252', 'FactsWouldChange',
    '{object} of interface "{interface_code}": {problem}',
    'Give what is new a name of its own, or keep the model as it was.'
),
(
    -- A control is no SECURITY DEFINER function of the right signature.
    'OM253', 'InvalidControl', 'control "{control_code}": {problem}',
    'CREATE FUNCTION … (p_operation text, p_old jsonb, p_new jsonb) RETURNS jsonb … SECURITY '
    'DEFINER …;'
)
ON CONFLICT (sqlstate_code) DO UPDATE SET
    error_name = excluded.error_name,
    message_template = excluded.message_template,
    hint_template = excluded.hint_template;
